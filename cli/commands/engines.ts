import { defineCommand } from '../command'
import { type Check, savedColumns, sayInUse, sayPrice, showSaved, spellCheck } from '../engine-report'
import { SETTING_FLAGS, settingsOf, withoutNull } from '../engine-settings'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { readSecretInput } from '../secret-input'
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
  column('status', 'STATUS'),
  column('source', 'SET IN'),
  column('address', 'ADDRESS', { wide: true }),
  column('why', 'WHY', { wide: true }),
  column('overrides', 'INSTEAD OF', { wide: true }),
  column('problem', 'PROBLEM', { wide: true }),
]

const testColumns = [
  column('id', 'TARGET'),
  column('kind', 'KIND'),
  column('ok', 'OK', { kind: 'flag' }),
  column('checks', 'CHECKS', { show: ({ checks }) => (checks as Check[]).map(spellCheck).join(', ') }),
]

const listEngines = defineCommand({
  path: 'engines list',
  summary: 'List the engines and the upstreams of each',
  about:
    'Shows one line for each target, in the order they are tried. Each upstream is asked whether it answers, at no cost. STATUS is what GET /models shows. SET IN is "here" for settings made while a server ran. Only operators see these names; no API answer contains them.',
  examples: ['engines list', 'engines list --json'],
  apis: ['operator'],
  impact: 'read',
  columns,
  watchable: true,
  async run(shell) {
    const connection = await shell.connect()
    const { engines } = expectData(await connection.ops().engines.get())
    shell.print.list(engines, columns, 'No engines.')
  },
})

const testEngines = defineCommand({
  path: 'engines test',
  summary: 'Test the engines with real calls',
  about:
    'Asks every target, or those of one upstream, for an answer, a stream and JSON. Exits 9 when one fails. The upstream may charge a few tokens for each call.',
  examples: ['engines test', 'engines test main --json', 'engines test --mode think'],
  apis: ['operator'],
  impact: 'read',
  exits: [3, 9],
  columns: testColumns,
  args: { upstream: optional('the upstream to test; all by default') },
  flags: { mode: text('MODE', 'only targets that answer this mode') },
  async run(shell, { upstream, mode }) {
    const connection = await shell.connect()
    const query = { ...(upstream ? { upstream } : {}), ...(mode ? { mode } : {}) }
    const { tests } = expectData(await connection.ops().engines.test.post({}, { query }))
    shell.print.list(tests, testColumns, 'No upstream is connected.')
    if (tests.some(({ ok }) => !ok)) throw new CheckFailed()
  },
})

const NO_ADDRESS = 'add --base-url URL'

const addEngine = defineCommand({
  path: 'engines add',
  summary: 'Connect an upstream that answers the text modes',
  about:
    'Tests the upstream with real calls first, and saves nothing if one fails. Running servers use it at once, on every node, ahead of the current targets. Running calls finish as they started. Settings are stored in the database, and the key is encrypted. Without --models, it uses every model that the upstream lists, up to 20. The first model answers; the others take over when it fails. Without a price, calls cost what engines prices shows. The key comes from --from-file, stdin or a hidden prompt, never from a flag.',
  examples: [
    'engines add main --kind compat --base-url http://127.0.0.1:8080/v1 --models a-small --no-key',
    'engines add main --kind anthropic --models m-large,m-small --from-file key.txt',
    'engines add eyes --base-url http://127.0.0.1:8081/v1 --models v --no-key --vision yes --concurrency 4',
  ],
  apis: ['operator'],
  impact: 'write',
  exits: [5, 9],
  columns: savedColumns,
  args: { name: argument('a name for it: lower-case letters, digits and hyphens') },
  flags: {
    kind: { ...choice(UPSTREAM_KINDS, 'its wire format; compat is any chat-completions server') },
    baseUrl: text('URL', 'its address; required for compat'),
    models: list('m1,m2', 'its model names, best first; all that it lists by default'),
    fromFile: text('FILE', 'a file that contains its key; - reads stdin'),
    noKey: flag('it does not need a key'),
    noTest: flag('save without testing'),
    ...SETTING_FLAGS,
  },
  async run(shell, { name, kind = 'compat', baseUrl, models, fromFile, noKey, noTest, ...given }) {
    const settings = withoutNull(settingsOf(given))
    if (shell.planned(`connect ${name} (${kind}) for the text modes`)) return
    // Before the key, which nobody likes to type for nothing.
    const address = baseUrl || (kind === 'compat' && shell.prompt.line('Address, such as http://host/v1', NO_ADDRESS))
    if (kind === 'compat' && !address) throw usageFailure('The address is empty.', NO_ADDRESS)
    const key = noKey
      ? null
      : await readSecretInput(shell, { label: 'API key', fromFile, instead: 'add --from-file FILE or --no-key' })
    const connection = await shell.connect()
    const body = {
      name,
      kind,
      test: !noTest,
      ...(models ? { models } : {}),
      ...(address ? { base_url: address } : {}),
      ...(key ? { api_key: key } : {}),
      ...(Object.keys(settings).length ? { settings } : {}),
    }
    const saved = expectData(await connection.ops().engines.post(body))
    showSaved(shell, saved, models ? '' : ', choose models with --models m1,m2')
    sayInUse(shell, connection)
    if (!('prices' in settings)) await sayPrice(shell, connection, name)
  },
})

const updateEngine = defineCommand({
  path: 'engines update',
  summary: 'Change the settings of an upstream',
  about:
    'Settings that you do not name stay the same. The new settings are tested first, and nothing is saved if a test fails. A new key comes from --from-file, never from a flag. engines map chooses which models answer. An upstream of svc.server.json or the environment must be changed there. --copy copies it to the database, and from then on the copy is used.',
  examples: [
    'engines update main --call-timeout 60s --concurrency 8',
    'engines update main --from-file key.txt --no-test',
  ],
  apis: ['operator'],
  impact: 'write',
  exits: [3, 5, 9],
  columns: savedColumns,
  args: { name: argument('the name you gave it with engines add') },
  flags: {
    baseUrl: text('URL', 'its address'),
    fromFile: text('FILE', 'a file that contains its new key; - reads stdin'),
    noTest: flag('save without testing'),
    copy: flag('copy an upstream of svc.server.json or the environment to the database'),
    ...SETTING_FLAGS,
  },
  async run(shell, { name, baseUrl, fromFile, noTest, copy, ...given }) {
    const settings = settingsOf(given)
    if (!baseUrl && !fromFile && !copy && !Object.keys(settings).length) {
      throw usageFailure(
        'engines update needs a setting to change.',
        `svc-admin engines update ${name} --call-timeout 60s`,
      )
    }
    if (shell.planned(`change the upstream ${name}`)) return
    const key = fromFile
      ? await readSecretInput(shell, { label: 'API key', fromFile, instead: '--from-file FILE' })
      : null
    const connection = await shell.connect()
    const body = {
      test: !noTest,
      ...(copy ? { copy } : {}),
      ...(baseUrl ? { base_url: baseUrl } : {}),
      ...(key ? { api_key: key } : {}),
      ...(Object.keys(settings).length ? { settings } : {}),
    }
    showSaved(
      shell,
      expectData(
        await connection
          .ops()
          .engines({ name: encodeURIComponent(name) })
          .patch(body),
      ),
    )
    sayInUse(shell, connection)
  },
})

const removeEngine = defineCommand({
  path: 'engines remove',
  summary: 'Disconnect an upstream',
  about:
    'Deletes the upstream, its targets and its key from the database. Running calls continue. If a mode would have no engine left, it needs --force. An upstream that you copied with --copy is used again from svc.server.json or the environment.',
  examples: ['engines remove main --yes', 'engines remove main --force --yes'],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns: [column('name', 'NAME'), column('removed_from', 'REMOVED FROM')],
  args: { name: argument('the name you gave it with engines add') },
  flags: { force: flag('remove it even if engines would have no target left') },
  async run(shell, { name, force }) {
    if (shell.planned(`disconnect the upstream ${name}`)) return
    shell.confirm(`Disconnect the upstream ${name}?`)
    const connection = await shell.connect()
    const one = connection.ops().engines({ name: encodeURIComponent(name) })
    shell.print.item(expectData(await one.delete({}, { query: force ? { force: 'true' } : {} })), removeEngine.columns!)
    sayInUse(shell, connection)
  },
})

const mapEngine = defineCommand({
  path: 'engines map',
  summary: 'Choose which models answer a mode, best first',
  about: `A target is upstream:model. When one fails, the next one takes over. MODE is a mode of GET /models, an engine id, or "*" for every text mode without its own targets. --to none removes the mode's own targets. Then those of svc.server.json, the environment and "*" apply.`,
  examples: ['engines map think --to big:large,main:small', 'engines map think --to none'],
  apis: ['operator'],
  impact: 'write',
  exits: [3, 5],
  columns: [column('id', 'ENGINE'), column('targets', 'TARGETS', { kind: 'list' }), column('saved_to', 'SAVED TO')],
  args: { mode: argument('a mode, an engine id or "*"') },
  flags: { to: list('up:model,…', 'its targets, best first, or none') },
  async run(shell, { mode, to }) {
    if (!to) throw usageFailure('engines map needs --to.', `svc-admin engines map ${mode} --to main:small`)
    const targets = to.length === 1 && to[0] === 'none' ? [] : to
    if (shell.planned(`let ${targets.join(', ') || 'the targets of all text modes'} answer ${mode}`)) return
    const connection = await shell.connect()
    const saved = await connection
      .ops()
      .engines.map({ mode: encodeURIComponent(mode) })
      .put({ targets })
    shell.print.item(expectData(saved), mapEngine.columns!)
    sayInUse(shell, connection)
  },
})

export const engineCommands = [listEngines, addEngine, updateEngine, removeEngine, mapEngine, testEngines]
