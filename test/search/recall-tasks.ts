/**
 * Tasks that measure the gate of `pond hook`: decisions as people type them, each with a later task that needs it, and
 * tasks that need none of them. The thresholds were set on the tuned ones; the others were written afterwards and never
 * tuned on, and the real clients are judged by them (`test/clients/hooks.ts`).
 */

/** What was decided in an old session, and what is asked for later. */
type Task = readonly [decision: string, task: string]

export const TUNED: readonly Task[] = [
  [
    "Let's settle this: timestamps in the audit log are stored as UTC milliseconds, never as ISO strings, because the mobile app cannot parse offsets.",
    "Add a new audit log entry whenever a user changes their e-mail address.",
  ],
  [
    "We decided to run pgbouncer in transaction mode, so prepared statements must be off in the connection pool.",
    "Configure the database connection pool for the new reporting worker.",
  ],
  [
    "Rule for this repo: migrations are never edited once merged. Write a new one and name it with the ticket number.",
    "The orders table needs a discount column. Write the migration.",
  ],
  [
    "Turned out the flaky checkout tests were caused by the fake clock; we now call vi.useRealTimers() before every network assertion.",
    "The checkout tests are flaky again in CI, please find out why.",
  ],
  [
    "I don't want Redis for rate limiting. Use the token bucket in src/limits/bucket.ts, it is shared between the API nodes through Postgres.",
    "Put rate limiting on the password reset endpoint.",
  ],
  [
    "For feature flags we agreed on Unleash; LaunchDarkly was too expensive. The client is wrapped in lib/flags.",
    "Hide the new dashboard behind a feature flag.",
  ],
  [
    "Prices are integers in cents everywhere, and rounding is half-even, as accounting asked for.",
    "Show the total price with tax in the invoice PDF.",
  ],
  [
    "The deploy to staging has to go through `make ship ENV=staging`; running kubectl by hand broke the ingress last month.",
    "Deploy the current branch to staging.",
  ],
  [
    "Do not upgrade esbuild past 0.19: 0.20 broke the source maps for the Electron build.",
    "Upgrade the build dependencies, esbuild included.",
  ],
  [
    "We chose ULIDs over UUIDs for primary keys because the index on events got too fragmented.",
    "Create the table for webhook deliveries with a primary key.",
  ],
  [
    "Error responses follow RFC 9457 problem+json, with the code in `type`. No more {error: string}.",
    "Make the upload endpoint return a proper error response when the file is too large.",
  ],
  [
    "Background jobs must be idempotent and carry a dedupe key, since the queue delivers at least once.",
    "Add a background job that sends the weekly digest e-mail.",
  ],
  [
    "The design team wants 4px spacing steps; use the tokens in theme/space.css, no raw pixel values.",
    "Fix the spacing of the settings page header.",
  ],
  [
    "Logging: pino only, request id in every line, and never the Authorization header.",
    "Add logging to the payment webhook handler.",
  ],
  [
    "We keep translations in locales/*.json sorted by key; the crowdin sync fails otherwise.",
    "Add the German translations for the new onboarding screens.",
  ],
  [
    "S3 uploads go through presigned URLs, the API must not proxy file bytes (memory blew up at 2 GB).",
    "Users should be able to upload a profile picture to S3.",
  ],
  [
    "Auth tokens live in httpOnly cookies, not localStorage. Security review, March.",
    "The session gets lost after a page reload, store the auth token somewhere.",
  ],
  [
    "GraphQL resolvers must use the dataloader in graphql/loaders.ts; the N+1 took production down.",
    "Add a resolver for the comments of a post to the GraphQL schema.",
  ],
  [
    "Use Playwright for the end-to-end tests, Cypress is going away this quarter.",
    "Write an end-to-end test for the signup form.",
  ],
  [
    "The cron container runs in Europe/Berlin, so schedule everything in UTC explicitly with CRON_TZ=UTC.",
    "Schedule a nightly cron job which cleans up expired sessions.",
  ],
  [
    "CSV exports need a BOM and semicolons, otherwise Excel in our customers' offices shows garbage.",
    "Export the customers list as CSV.",
  ],
  [
    "Terraform state is in the shared bucket with locking via DynamoDB; never apply from a laptop, only from the pipeline.",
    "Add a Terraform module for the new SQS queue and apply it.",
  ],
  [
    "The search index is rebuilt with an alias swap: build products_v2, then move the alias. Reindexing in place dropped results for an hour.",
    "We have to reindex the product search with a new analyzer.",
  ],
  [
    "Retries to the ERP must back off at least 30 seconds, they blocked our IP after a burst.",
    "The ERP client should retry when the order sync times out.",
  ],
]

export const TUNED_WITHOUT: readonly string[] = [
  "fix the failing test",
  "continue",
  "yes",
  "Please review my changes and commit them.",
  "What does this function do?",
  "Write a haiku about autumn.",
  "Rename the variable foo to bar in main.ts.",
  "Explain how monads work.",
  "Add a dark mode toggle to the navigation bar.",
  "Why is the sky blue?",
  "run the linter and fix what it finds",
  "Refactor this file into smaller functions.",
  "Add type annotations to utils/strings.py.",
  "Update the README with installation instructions.",
  "The button on the landing page is not centered on Safari.",
  "Convert this shell script to Python.",
  "Write unit tests for the date parser.",
  "Bump the version and write the changelog.",
  "Implement quicksort in Rust.",
  "Add a keyboard shortcut for saving the document.",
  "Summarize the open pull requests.",
  "Make the animation smoother on scroll.",
  "Set up eslint with the airbnb config.",
  "git rebase went wrong, help me get my commits back",
  "What is the capital of Australia?",
  "Generate a favicon from the logo.",
  "Add a loading spinner while the data is fetched.",
  "Remove the unused imports.",
  "Translate this comment into English.",
  "Create a Dockerfile for the frontend.",
  "Sort the list of users by name.",
  "Let the user delete their own posts.",
  "How do I mock fetch in vitest?",
  "Print the memory usage of the process.",
  "Add pagination to the blog page.",
  "The tooltip is cut off at the edge of the screen.",
  "Use async await instead of callbacks in reader.js.",
  "Document the public methods of the client class.",
  "Check whether the API returns a 404 for unknown users.",
  "Speed up the unit tests.",
]

export const NEEDED: readonly Task[] = [
  [
    "We serve images through imgproxy only; never resize in the Node process, it blocked the event loop for seconds.",
    "Avatars look blurry, generate smaller images when they are resized on upload.",
  ],
  [
    "The Kafka consumer group for billing must stay at one partition, since invoices have to be numbered in order.",
    "The billing consumer is slow, increase the number of Kafka partitions.",
  ],
  [
    "All money goes through the Ledger class. Do not add up floats, the auditors found a cent missing in May.",
    "Write a function that sums up the refunds of a month in the ledger report.",
  ],
  [
    "Use the retry helper with jitter for calls to Stripe; a plain loop got us throttled.",
    "Calls to Stripe sometimes fail with a timeout, make them retry.",
  ],
  [
    "Our Helm chart pins the nginx ingress to 4.7 because 4.8 drops websocket connections.",
    "Update the Helm chart and the nginx ingress to the current release.",
  ],
  [
    "Backups are encrypted with age, not gpg, and the key is in the ops vault.",
    "Write a script that restores the encrypted backups of last night.",
  ],
  [
    "Don't call the geocoding API from tests, the quota is 500 a day. There is a recorded cassette in test/cassettes.",
    "Add tests for the geocoding of delivery addresses.",
  ],
  [
    "Dates in the public API are ISO 8601 with Z; the partner import rejects everything else.",
    "The partner import needs an endpoint which lists orders with their dates.",
  ],
  [
    "The iOS build must use Xcode 15.2, newer ones break the Realm pods.",
    "The iOS build fails on CI after the Xcode image was updated.",
  ],
  [
    "Feature branches deploy to preview environments with seeded data only; never copy the production dump there.",
    "Set up the preview environment for this feature branch with realistic data.",
  ],
]

export const NOT_NEEDED: readonly string[] = [
  "Add a unit test for the string truncation helper.",
  "Rename UserCard to ProfileCard everywhere.",
  "Why does TypeScript complain about this generic?",
  "Make the footer sticky on mobile.",
  "Explain what a closure is.",
  "hi",
  "continue please",
  "Remove the console.log statements.",
  "The login page shows a blank screen in Firefox.",
  "Write a README section about contributing.",
  "Create a GitHub issue template.",
  "Sort the imports in all files.",
  "Add an aria-label to the close button.",
  "Which files changed in the last commit?",
  "Convert the callbacks in upload.js to promises.",
  "Run the tests and tell me which of them fail.",
  "Add a health check endpoint.",
  "Use a Map instead of an object for the cache.",
  "Format the code with prettier.",
  "The tests are slow, run them in parallel.",
]

/** Written after the gate was settled, for the real clients alone. */
export const JUDGED: readonly Task[] = [
  [
    "We render the maps with MapLibre, not Google Maps, because of the licence of the offline tiles.",
    "Show the position of the courier on the offline maps.",
  ],
  [
    "Never run VACUUM FULL on the tracking table, it locked the warehouse scanners for an hour.",
    "The tracking table has grown to 80 GB, free the space with VACUUM.",
  ],
  [
    "E-mail templates are written in MJML and compiled by the mail service. Do not edit the generated HTML.",
    "Change the colour of the header in the e-mail templates.",
  ],
  [
    "The webhook signature must be checked on the raw request body, since Express parses it otherwise.",
    "Verify the webhook signature of the new payment provider.",
  ],
  [
    "We decided that soft-deleted customers stay in the CRM export for 30 days, legal asked for it.",
    "Leave deleted customers out of the CRM export.",
  ],
  [
    "Don't use moment.js in new code, the bundle got too large. Luxon is what we agreed on.",
    "Parse the opening hours with moment.js in the new bundle.",
  ],
  [
    "Barcode labels are printed at 203 dpi; other resolutions came out unreadable on the Zebra printers.",
    "Print the barcode labels in a smaller size on the Zebra printers.",
  ],
  [
    "The nightly invoice run has to finish before 04:00, because the bank fetches the SEPA file then.",
    "Move the nightly invoice run to a later hour.",
  ],
  [
    "Cache keys always contain the tenant id. We had a leak between tenants in January.",
    "Put the price list of each tenant behind a cache.",
  ],
  [
    "Use the feature store for the churn model; reading the production replica made the checkout slow.",
    "Train the churn model with the features of last month.",
  ],
]
