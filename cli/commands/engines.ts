import { clean } from '../../src/kernel/text'
import { defineCommand } from '../command'
import { CheckFailed, expectData } from '../failure'
import { column } from '../output/columns'
import { readSecretInput } from '../secret-input'
import type { Shell } from '../shell'
import { argument, choice, flag, list, optional, text } from '../words'

/** Repeated here, because importing the engines' own list would load every driver even for `--help`. */
const UPSTREAM_KINDS = ['compat', 'anthropic', 'google', 'openai'] as const

const columns = [
  column('id', 'ENGINE'),
  column('mode', 'MODE'),
  column('rank', 'RANK', { kind: 'number' }),
  column('target', 'ANSWERED BY'),
  column('kind', 'KIND'),
  column('state', 'STATE'),
  column('address', 'ADDRESS', { wide: true }),
  column('problem', 'PROBLEM', { wide: true }),
]

const testColumns = [
  column('id', 'TARGET'),
  column('kind', 'KIND'),
  column('ok', 'OK', { kind: 'flag' }),
  column('checks', 'CHECKS', { show: ({ checks }) => (checks as Check[]).map(spellCheck).join(', ') }),
]

type Check = { check: string; ok: boolean; latency_ms: number; detail: string }

const spellCheck = ({ check, ok, latency_ms, detail }: Check): string =>
  ok ? `${check} ${latency_ms} ms` : `${check} failed: ${detail}`

export const listEngines = defineCommand({
  path: 'engines list',
  summary: 'List the engines and what stands behind each',
  about:
    'One line for each target, in the order of trying; each upstream is asked whether it answers, at no cost. These names are for operators only: no answer of the API ever shows them.',
  examples: ['engines list', 'engines list --json'],
  planes: ['operator'],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [7],
  columns,
  watchable: true,
  async run(shell) {
    const connection = await shell.connect()
    const { engines } = expectData(await connection.ops().engines.get())
    shell.print.list(engines, columns, 'No engines.')
  },
})

export const testEngines = defineCommand({
  path: 'engines test',
  summary: 'Make real calls to what stands behind the engines',
  about:
    'Asks for an answer, a stream and JSON of every target, or of those of one upstream, and exits 9 when one fails. Each call may cost what the upstream charges for a few tokens.',
  examples: ['engines test', 'engines test main --json'],
  planes: ['operator'],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [3, 7, 9],
  columns: testColumns,
  args: { upstream: optional('the name it was added under; all of them unless said') },
  async run(shell, { upstream }) {
    const connection = await shell.connect()
    const { tests } = expectData(await connection.ops().engines.test.post({}, { query: upstream ? { upstream } : {} }))
    shell.print.list(tests, testColumns, 'No upstream is connected.')
    if (tests.some(({ ok }) => !ok)) throw new CheckFailed()
  },
})

export const addEngine = defineCommand({
  path: 'engines add',
  summary: 'Connect an upstream that answers the text modes',
  about:
    'Tests it with real calls first, and saves nothing when one fails. It is written to svc.server.json in front of what answers now; its key goes to a file of its own that only you can read. The first model answers, the others stand in when it fails. A running server uses it after a restart. The key comes from --from-file, stdin or a hidden prompt, never from a flag.',
  examples: [
    'engines add main --kind compat --base-url http://127.0.0.1:8080/v1 --models a-small --no-key',
    'engines add main --kind anthropic --models m-large,m-small --from-file key.txt',
  ],
  planes: ['operator'],
  offline: true,
  impact: 'write',
  danger: 'none',
  exits: [5, 7, 9, 10],
  columns: [
    column('name', 'NAME'),
    column('kind', 'KIND'),
    column('models', 'MODELS', { kind: 'list' }),
    column('modes', 'MODES', { kind: 'list' }),
    column('saved_to', 'SAVED TO'),
  ],
  args: { name: argument('what to call it: lower case letters, digits and dashes') },
  flags: {
    kind: { ...choice(UPSTREAM_KINDS, 'its wire format; compat is any chat-completions server') },
    baseUrl: text('URL', 'where it is; needed for compat'),
    models: list('m1,m2', 'its own names for the models, best first'),
    fromFile: text('FILE', 'a file that holds its key; - is stdin'),
    noKey: flag('it wants no key'),
    noTest: flag('save without testing'),
  },
  async run(shell, { name, kind = 'compat', baseUrl, models = ['default'], fromFile, noKey, noTest }) {
    if (shell.planned(`connect ${name} (${kind}) for the text modes`)) return
    const key = noKey
      ? null
      : await readSecretInput(shell, { label: 'API key', fromFile, instead: 'add --from-file FILE or --no-key' })
    const connection = await shell.connect()
    const body = {
      name,
      kind,
      models,
      test: !noTest,
      ...(baseUrl ? { base_url: baseUrl } : {}),
      ...(key ? { api_key: key } : {}),
    }
    const added = expectData(await connection.ops().engines.post(body))
    for (const test of added.tests) sayTest(shell, test)
    if (added.saved_to === null) {
      shell.note('Nothing was saved. Correct it and try again, or add --no-test.')
      throw new CheckFailed()
    }
    shell.print.item(added, addEngine.columns!)
    if (connection.transport.kind === 'socket') shell.note('Restart the server to use it.')
  },
})

function sayTest({ io, globals, paint }: Shell, { id, checks }: { id: string; checks: Check[] }): void {
  for (const check of checks) {
    const word = check.ok ? paint('good', 'ok  ') : paint('bad', 'fail')
    if (!globals.quiet) io.err(`${word}  ${clean(`${id}  ${spellCheck(check)}`)}`)
  }
}

export const engineCommands = [listEngines, addEngine, testEngines]
