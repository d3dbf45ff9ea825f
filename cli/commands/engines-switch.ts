import { defineCommand } from '../command'
import { savedColumns, sayInUse, showSaved } from '../engine-report'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { readValueFile } from '../preference-file'
import { argument, flag, text } from '../words'

const common = {
  apis: ['operator'],
  impact: 'write',
  exits: [3, 5, 9],
  columns: savedColumns,
  args: { name: argument('the name it was added under') },
} as const

const disableEngine = defineCommand({
  ...common,
  path: 'engines disable',
  summary: 'Disable an upstream and keep its settings',
  about:
    'It stays with its targets and its key, and is asked for nothing from then on; calls that run go on. The next target of a mode answers, else the built-in engine where it is on.',
  examples: ['engines disable main', 'engines disable main --dry-run --json'],
  async run(shell, { name }) {
    if (shell.planned(`switch the upstream ${name} off`)) return
    const connection = await shell.connect()
    const one = connection.ops().engines({ name: encodeURIComponent(name) })
    showSaved(shell, expectData(await one.patch({ settings: { off: true }, test: false })))
    shell.note(`undo: svc-admin engines enable ${name}`)
    sayInUse(shell, connection)
  },
})

const enableEngine = defineCommand({
  ...common,
  path: 'engines enable',
  summary: 'Enable an upstream',
  about: 'It is tested with real calls first, and stays off when one fails.',
  examples: ['engines enable main', 'engines enable main --no-test'],
  flags: { noTest: flag('switch it on without testing') },
  async run(shell, { name, noTest }) {
    if (shell.planned(`switch the upstream ${name} on`)) return
    const connection = await shell.connect()
    const one = connection.ops().engines({ name: encodeURIComponent(name) })
    showSaved(shell, expectData(await one.patch({ settings: { off: null }, test: !noTest })))
    shell.note(`undo: svc-admin engines disable ${name}`)
    sayInUse(shell, connection)
  },
})

const priceColumns = [
  column('id', 'ENGINE'),
  column('mode', 'MODE', { least: true }),
  column('sample_cents', 'SAMPLE¢', { kind: 'number' }),
  column('before_cents', 'BEFORE¢', { kind: 'number', wide: true }),
  column('sample', 'SAMPLE'),
  column('set_by', 'SET BY'),
  ...(['promptPer1k', 'completionPer1k', 'perImage', 'perSecond', 'perPage', 'perMinute'] as const).map((member) =>
    column(`price.${member}`, member.toUpperCase(), { kind: 'number', wide: true }),
  ),
]

const changedColumns = priceColumns.map((one) => (one.field === 'before_cents' ? { ...one, wide: false } : one))

const showPrices = defineCommand({
  path: 'engines prices',
  summary: 'Show what each engine costs, with a sample request',
  about:
    'Prices are micro-cents: a million are one cent. SET BY says where one comes from: here (engines set-prices), SVC_PRICES or prices in svc.server.json, the upstream that answers first, or svc itself.',
  examples: ['engines prices', 'engines prices -o csv > prices.csv'],
  apis: ['operator'],
  impact: 'read',
  columns: priceColumns,
  async run(shell) {
    const connection = await shell.connect()
    const { prices } = expectData(await connection.ops().engines.prices.get())
    shell.print.list(prices, priceColumns, 'No engines.')
  },
})

const setPrices = defineCommand({
  path: 'engines set-prices',
  summary: 'Change the prices of engines, and show the new cost of a sample request',
  about:
    'The file has micro-cents by engine: {"svc-1-flash": {"promptPer1k": 20000}}. What it leaves out stays; null gives an engine its own price back. Calls that begin from then on are charged so, on every node; those that run at the old price.',
  examples: ['engines set-prices -f prices.json --dry-run', 'engines set-prices -f prices.yaml --json'],
  apis: ['operator'],
  impact: 'write',
  exits: [5],
  columns: changedColumns,
  flags: { file: { ...text('FILE', 'the prices, as JSON, JSONC, YAML or TOML; - is stdin'), short: 'f' } },
  async run(shell, { file }) {
    if (file === undefined) throw usageFailure('engines set-prices needs --file.', 'svc-admin engines prices --json')
    const prices = (await readValueFile(shell, file)) as Record<string, Record<string, number> | null>
    const connection = await shell.connect()
    const put = async (dry_run: boolean) => expectData(await connection.ops().engines.prices.put({ prices, dry_run }))
    const { prices: found } = await put(true)
    const isPlan = found.length > 0 && shell.planned(`change the prices of ${found.map(({ id }) => id).join(', ')}`)
    shell.print.list(found, changedColumns, 'These are the prices already.')
    if (isPlan || !found.length) return
    await put(false)
    sayInUse(shell, connection)
  },
})

export const engineSwitchCommands = [enableEngine, disableEngine, showPrices, setPrices]
