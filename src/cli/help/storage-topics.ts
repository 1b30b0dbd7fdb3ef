/** The help topics of where a store lies: on this machine, in a bucket, and behind a server for several people. */

export const STORAGE = `The store is a directory of Lance tables, or a prefix in a bucket:

  /path, file:///path           this machine
  s3://bucket/prefix            Amazon S3
  s3+https://host/bucket/prefix anything that speaks S3, such as MinIO or R2
  gs://bucket/prefix            Google Cloud Storage
  az://container/prefix         Azure Blob Storage

pond uses --store, then POND_STORE, then store in config.toml, then a directory
below XDG_DATA_HOME. \`pond config\` shows the value and where it comes from.

Credentials come from the usual environment variables: AWS_ACCESS_KEY_ID
and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT
and AZURE_STORAGE_KEY. Or from config.toml, for a URL and everything below it:

  [storage."s3+https://minio.example.org/bucket"]
  access_key_id = "…"
  secret_access_key = "…"
  region = "us-east-1"

A scheduled sync does not see the variables of your shell: use the config file.
Check a store before you use it, and copy between any two:

  pond storage check s3://bucket/prefix
  pond copy --to s3://bucket/prefix
  pond export -o all.pond
  pond optimize
`

export const HOSTED = `To use pond with several people or machines, put the store in a bucket and give
each person a namespace. Namespaces share nothing but the bucket.

  pond namespace create team-a --store s3://bucket/pond
  pond sync --store s3://bucket/pond --namespace team-a
  pond search "words" --store s3://bucket/pond --namespace team-a

Any number of machines may sync into one namespace at once, and any number of
servers may read it. A server answers HTTP and MCP:

  pond serve --store s3://bucket/pond --host 0.0.0.0 --allowed-host pond.example.org

By default it listens on this machine only, rejects other host names, and asks for
a token: the first start prints it, later ones name the file that keeps it. Send it
as \`Authorization: Bearer TOKEN\`, or as the password of a URL:
http://pond:TOKEN@127.0.0.1:9797/v1/status. It has no user accounts and no TLS: put a
reverse proxy with both in front. With --namespace it
answers for that namespace only. A request for a namespace that does not exist is
answered with 403.

A browser shows a page at / of a server on a port: \`pond open\` opens it with the
token. Its files need no token and contain nothing from the store. Without a token it
cannot erase.

  pond serve --with-sync        also store what the clients write
  pond serve --no-page          no page at /
  pond serve --no-token         any user or program on this machine may ask
  pond serve --socket FILE      only you may ask; no token is needed

While a server or an agent's \`pond mcp\` runs on your machine, your own commands with
the same settings ask it instead of opening the store. -v shows when they do.
`
