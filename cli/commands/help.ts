import type { Setting } from '../../src/kernel/config'
import { didYouMean } from '../../src/kernel/nearest'
import { ERROR_PAGES } from '../../src/pages/reference/error-pages'
import { type Command, commandsOf, type Flag } from '../command'
import { EXIT_MEANINGS, usageFailure } from '../failure'
import { GLOBAL_FLAGS } from '../globals'
import { exitsOf, helpFor, rows } from '../help'
import { columnsOf } from '../output/columns'
import { kebab } from '../program'
import type { Shell } from '../shell'
import { optional } from '../words'

const command = commandsOf('', { apis: ['host'], exits: [] })

export const cheat = command`cheat: Print examples of commands, ready to paste
  Prints two or more examples for each command of a noun, with what they do. Without a noun it prints one for each command.
  $ cheat keys
  $ cheat | less`({
  args: { resource: optional('a noun, such as keys') },
  async run({ io, commands }, { resource }) {
    const words = [...new Set(commands.map(({ path }) => path.split(' ')[0]!))]
    const own = commands.filter(({ path }) => {
      const [first] = path.split(' ')
      return resource === undefined || first === resource || first === `${resource}s`
    })
    if (!own.length)
      throw usageFailure(`There is no noun "${resource}".${didYouMean(resource!, words)}`, 'svc-admin help')
    for (const { summary, examples } of own) {
      io.out(`# ${summary}`)
      for (const example of resource === undefined ? examples.slice(0, 1) : examples) io.out(`svc-admin ${example}`)
      io.out('')
    }
  },
})

const SCHEMA_VERSION = 1

export const listCommands = command`commands: List every command
  In JSON each entry has its arguments, flags, exit codes, impact (ro or rw) and danger. A program can use these to decide what to run.
  $ commands
  $ commands -o json`({
  columns: columnsOf`command COMMAND, impact IMPACT, summary SUMMARY`,
  async run(shell) {
    shell.print.list(shell.commands.map(describe), listCommands.columns!, 'No commands.')
  },
})

const describe = (command: Command) => ({
  schema_version: SCHEMA_VERSION,
  command: command.path,
  summary: command.summary,
  impact: command.impact === 'read' ? 'ro' : 'rw',
  danger: command.danger,
  planes: command.apis,
  offline: command.offline,
  arguments: Object.entries(command.args).map(([name, { about, required }]) => ({ name, about, required })),
  flags: Object.entries(command.flags).map(([name, { about, value, words }]) => ({
    name: `--${kebab(name)}`,
    about,
    value: value ?? null,
    words: words ?? null,
  })),
  columns: (command.columns ?? []).map(({ field }) => field),
  exit_codes: exitsOf(command),
  examples: command.examples.map((example) => `svc-admin ${example}`),
})

/** Help topics that are not commands (docs/operating.md 2.8). They apply to all. Lines have at most 80 columns. */
const TOPIC_PAGES: Readonly<Record<string, string>> = {
  output: `Output formats

-o FORMAT   table, wide, json, jsonl, yaml, csv, id (one per line), none;
            doctor also has nagios and prometheus
--json      the same as -o json
--fields    columns or members to print; --fields ? lists them
--query     a JMESPath expression over the JSON answer

Data goes to standard output, everything else to standard error. In JSON a list
is an array of the objects that the API returns, and a single item is an object.
csv is UTF-8 without a byte order mark. The files of the export commands begin
with one, so that Excel reads them correctly.
A pipe gets the same table in full and without colour. Commands that keep
printing, such as events tail or --watch, print a table on a terminal and JSON
lines in a pipe.
An error in a JSON format is the API's error object with exit_code and hint.

  svc-admin keys list --json | jq '.[0].id'
  svc-admin keys list --query "[?tier=='free'].id"`,
  filters: `Filter the rows of a list with --filter, as in the dashboard

word          any column contains it
name:word     this column contains it
status:a,b    one of these
cost:>=400    compared as numbers
age:>5m       older than five minutes; works for any column with a time
name:shop*    * matches any text
!word         not this

Several conditions must all match. Quote a value that contains spaces.

  svc-admin jobs list --filter "failed type:video age:>1h"`,
  remote: `Servers on other machines

--url URL        address of the API for an API key (svc_sk_…), or of
                 SVC_OPS_LISTEN for an operator key (svc_op_…)
--key-file FILE  file that contains the key; or SVC_OPERATOR_KEY_FILE
--profile NAME   both under one name; save them with profiles add

Without these flags a command uses ops.sock in the data folder. If no server
runs, it opens the data folder itself. svc-admin status shows which one it used.
Other machines need https, because the key is sent with each request.

  svc-admin profiles add prod --url https://ops.svc.example --production
  svc-admin profiles use prod`,
  secrets: `How to pass secrets in and get them out

In: from a file (--from-file FILE), from standard input (-), or from a hidden
prompt. Never as the value of a flag, because other users can see it in ps.

Out: a new key or signing secret is printed once, on standard output. --secret-to
FILE writes it to a file that only you can read, and prints the prefix.
--secret-to - with -q prints only the secret. --copy copies it to the clipboard
through the terminal.

  svc-admin keys create --name ci -q --secret-to - | gh secret set SVC_API_KEY`,
  agents: `For programs that run svc-admin

svc-admin commands -o json   every command with its flags, columns, exit codes
                             and impact: ro reads, rw changes
--json --no-input            JSON output, and no questions
--dry-run --exit-code        show what would change; exit 10 if there is a change
--yes, --confirm NAME        answer a confirmation in advance
--idempotency-key KEY        a change with the same key is made only once
--reason TEXT                reason for the audit record; some commands need one

Rely on exit codes, not on sentences: svc-admin help exit-codes. An error in JSON
has code, exit_code, and hint, which is a command that you can run.`,
}

/** Text of `svc-admin help manifest`: a sample manifest that passes review, with instructions as comments. */
const MANIFEST_PAGE = `# A complete skill. Save it as a file and change it:
#
#   svc-admin help manifest > tides.yaml
#   svc-admin skills validate tides.yaml       checks it, and predicts its review tier
#   svc-admin skills submit tides.yaml         prints the id of the submission
#   svc-admin submissions approve ID --yes --reason "read"    if a person must review it
#   svc-admin skills install tide-tables --key "Dev laptop"
#   svc-admin try "When is high tide in Hollowport on Sunday?"

name: Tide tables                  # one line, up to 128 characters
slug: tide-tables                  # its name in URLs; it can never change
version: 1.0.0                     # each new version must be higher; submit it with --skill-id
description: Answers questions about tides in Hollowport.
category: domain                   # productivity, domain, integration, automation, creative
author:
  name: Mira                       # email and url are optional

# Instructions for the engine when the skill runs, up to 20,000 characters.
systemPromptExtension: |
  Answer questions about tides from the tables. Name the harbour and the day.

# Files it can quote: inline as here, or next to this file. A person reviews them first.
knowledge:
  - tides.md
knowledgeFiles:
  tides.md: |
    High tide in Hollowport on Sunday is at 07:42 and reaches 4.1 metres.

    Low tide in Hollowport on Sunday is at 13:55.

# Without a trigger the skill runs for every prompt. With this one, the prompt must contain one of the words.
trigger:
  type: keyword
  config:
    keywords: [tide, tides]

# Optional members. Tools need the permission execute:tools. A tool with an endpoint also needs external:http; the
# endpoint gets {tool, arguments, request_id} as JSON. A call of a tool without an endpoint is returned to the caller.
# tools:
#   - name: book_boat
#     description: Books a boat at the harbour.
#     inputSchema: { type: object, properties: { day: { type: string } }, required: [day] }
#     requiresApproval: true       # runs only for callers who send metadata.approved_tools: [book_boat]
# permissions: [execute:tools]     # read:conversations, read:artifacts, write:artifacts, write:notes,
#                                  # external:http, execute:tools, autonomous:run
# modelPreference: svc-1-flash     # GET /models lists them
# configSchema: { type: object, properties: { units: { enum: [metres, feet] } } }
# hooks: { onInstall: "Greet the user who installed this and say what you can do." }
# readme, changelog, setupGuide: Markdown
# license: MIT
# keywords: [tides, harbour]       # search words in the store, up to 10
# repository: https://example.com/tides`

const TOPICS = ['environment', 'exit-codes', 'error', 'manifest', ...Object.keys(TOPIC_PAGES)] as const

export const help = command`help: Explain a command, a topic or an error code
  Topics: ${TOPICS.join(', ')}. The error topic takes a code; manifest prints a skill to start from.
  $ help exit-codes
  $ help error insufficient_credits
  $ help keys create`({
  args: { topic: optional('a topic, a noun or a command'), word: optional("the command's verb, or an error code") },
  async run(shell, { topic, word }) {
    if (topic === 'exit-codes') return exitCodes(shell)
    if (topic === 'environment') return environment(shell)
    if (topic === 'error') return errorPage(shell, word)
    if (topic && Object.hasOwn(TOPIC_PAGES, topic)) return shell.io.out(TOPIC_PAGES[topic]!)
    if (topic === 'manifest') return shell.io.out(MANIFEST_PAGE)
    const known = shell.commands.some(({ path }) => path.split(' ')[0] === topic)
    if (topic && !known)
      throw usageFailure(`There is no topic "${topic}".${didYouMean(topic, TOPICS)}`, 'svc-admin help')
    shell.io.out(
      helpFor(
        [topic, word].filter((one) => one !== undefined),
        shell.commands,
      ),
    )
  },
})

function exitCodes({ io }: Shell): void {
  for (const line of rows(Object.entries(EXIT_MEANINGS))) io.out(line.trimStart().padStart(line.length - 2))
}

async function environment({ io }: Shell): Promise<void> {
  const own = Object.entries<Flag>(GLOBAL_FLAGS).flatMap(([name, { env }]) =>
    env ? [[env, `the same as --${kebab(name)}`] as const] : [],
  )
  io.out('Read by svc-admin:')
  for (const line of rows([...own, ['NO_COLOR, FORCE_COLOR', 'colour off, colour on'], ['CI', 'never ask']]))
    io.out(line)
  const { SETTINGS } = await import('../../src/app/config')
  io.out('')
  io.out('Read by the server (svc-admin config list shows their values):')
  for (const line of rows(Object.values<Setting>(SETTINGS).map(({ env, about }) => [env, about]))) io.out(line)
}

function errorPage({ io }: Shell, code: string | undefined): void {
  const codes = Object.keys(ERROR_PAGES)
  if (code === undefined) {
    for (const line of rows(codes.map((one) => [one, ERROR_PAGES[one]!.meaning]))) io.out(line)
    return
  }
  const page = ERROR_PAGES[code]
  if (!page) throw usageFailure(`There is no error code "${code}".${didYouMean(code, codes)}`, 'svc-admin help error')
  const lines = [
    ['code', code],
    ['status', String(page.status)],
    ['means', page.meaning],
    ['fix', page.operator ?? page.cure],
    ['retry', page.retry],
  ] as const
  for (const line of rows(lines)) io.out(line.slice(2))
}
