/**
 * Questions of somebody who remembers a real session: those of a repository's own history, which `RETRIEVAL_DATA` has in
 * its set `known` and this repository has not. Written by reading the sessions, and not by copying their words.
 */
import type { KnownItem } from "./known-items.ts"

export type RealItem = Pick<KnownItem, "id" | "questions">

export const REAL_ITEMS: readonly RealItem[] = [
  {
    id: "known/3e14b6e6-2330-496e-9c76-3eb7934bc3fd",
    questions: {
      error: "Search and chat with your AI conversation history at",
      name: "lastRunSessionID deep link main.go",
      session: "the session where we added an inviting link to the cloud after an upload",
      paraphrase: "how do people get from the terminal to the web page of what they have just uploaded",
      language: "nach dem Hochladen soll ein Link zum Projekt in der Cloud erscheinen",
    },
  },
  {
    id: "known/ca840fc9-f560-413f-acd5-249e54d818a6",
    questions: {
      error: "Do estas ne bona",
      name: "cli-config.toml createTempConfigFile",
      session: "the session where the settings file is created with everything commented out on first start",
      paraphrase: "how will anybody find out which options can be set permanently",
      language: "crear un archivo de configuración por defecto si no existe",
    },
  },
  {
    id: "known/fe5bb5f7-eba3-4b82-801f-3f0b471caa3e",
    questions: {
      error: "coordinated-universal-timezone flag default is wrong",
      name: "--local-time-zone flag",
      session: "the session where we replaced the UTC flag by one for local time",
      paraphrase: "where does the program learn in which part of the world it runs",
      language: "wie wird die lokale Zeitzone bestimmt",
    },
  },
  {
    id: "known/b9a0d834-5e25-45ad-9a0c-dd0bead5b38a",
    questions: {
      error: "wasted HEAD request before cloud sync",
      name: "skipHeadCheck debouncedSync",
      session: "the session about the needless request before uploading at the end of a run",
      paraphrase: "it turned out that the saving we wanted was already in the code",
      language: "requête HEAD inutile avant la synchronisation",
    },
  },
  {
    id: "known/af78c94b-c8ba-4ef7-9616-7a5a04e7fa5b",
    questions: {
      error: "Antigravity missing in the skills table",
      name: "pkg/skills/agents.go Antigravity",
      session: "the session where we let skills be installed for Antigravity",
      paraphrase: "how can one tell that this editor of Google's is on the machine, and not only its sibling",
      language: "wo sucht Antigravity nach Skills",
    },
  },
  {
    id: "known/bfcfe761-0dcf-402d-8164-2fd1524c4be4",
    questions: {
      error: "greedy regex removes user text between two tags",
      name: "xmlTagsRe stripXMLTags",
      session: "the session about the review comment on stripping XML tags",
      paraphrase: "why could one pattern not do it, so that we wrote a loop that looks for the end of each element",
      language: "expresión regular que borra el texto entre dos etiquetas",
    },
  },
  {
    id: "known/05d0dcff-01db-4109-81cb-c695bc7762f5",
    questions: {
      error: "unused imports after moving commands out of main.go",
      name: "CreateLoginCommand CreateLogoutCommand",
      session: "the session where the small commands were moved into files of their own",
      paraphrase: "breaking up the monolith that held every verb of the program",
      language: "Befehle aus main.go in eigene Dateien verschieben",
    },
  },
  {
    id: "known/e317d7b9-3289-4345-9c97-0bb1e3d998c8",
    questions: {
      error: "goreleaser version ~> v2 workflow fails",
      name: "CLI-RELEASE.md .github workflows subdirectory",
      session: "the session where the release process was adapted to the new repository",
      paraphrase: "what had to change for shipping because our code now lives below another root",
      language: "publicar una versión desde el nuevo repositorio: qué archivos de GitHub Actions hay que mover",
    },
  },
  {
    id: "known/62b5ce77-96fb-4003-bdae-a44ccd2118b0",
    questions: {
      error: "no version check flag not working for run",
      name: "CheckForUpdates noVersionCheck silent",
      session: "the session about the flag that turns off looking for updates",
      paraphrase: "our experiment proved nothing, because another switch hid the notice as well",
      language: "warum wird trotz Schalter nach Updates gesucht",
    },
  },
  {
    id: "known/fd7590b3-62e3-49dd-b0bb-f6e4755245e8",
    questions: {
      error: "review of pull request 150, provider for Factory Droid",
      name: "droidcli watcher fsnotify",
      session: "the session where we reviewed the support for Factory Droid",
      paraphrase: "being told of changes by the system instead of looking again and again",
      language: "relecture de la contribution qui ajoute Factory Droid",
    },
  },
  {
    id: "known/c94c863c-02e0-474e-b6d9-acb816f7fc55",
    questions: {
      error: "HOMEBREW_TAP_TOKEN secret not available in the job",
      name: "update-homebrew-tap workflow",
      session: "the session where we automated the last two manual steps of a release",
      paraphrase: "nobody should have to paste the digests of the binaries into the formula by hand any more",
      language: "automatisieren, dass die Homebrew-Formel neue Prüfsummen bekommt",
    },
  },
  {
    id: "known/dae675c5-4906-4b47-b3c4-77551eb15d0e",
    questions: {
      error: "QF1012: Use fmt.Fprintf instead of WriteString(fmt.Sprintf",
      name: "QF1012 staticcheck markdown_tools.go",
      session: "the session where we cleaned up all the warnings of one kind that the linter had",
      paraphrase: "formatting straight into the buffer without building a text first",
      language: "corriger tous les avertissements QF1012 du linter",
    },
  },
]
