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
  args: { name: argument('the name you gave it with engines add') },
} as const

const disableEngine = defineCommand({
  ...common,
  path: 'engines disable',
  summary: 'Disable an upstream and keep its settings',
  about:
    'Its settings, targets and key stay stored, but no new call goes to it. Running calls continue. The next target of each mode answers, or the built-in engine if it is on.',
  examples: ['engines disable main', 'engines disable main --dry-run --json'],
  async run(shell, { name }) {
    if (shell.planned(`disable the upstream ${name}`)) return
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
  about: 'It is tested with real calls first. If one fails, it stays disabled.',
  examples: ['engines enable main', 'engines enable main --no-test'],
  flags: { noTest: flag('enable it without testing') },
  async run(shell, { name, noTest }) {
    if (shell.planned(`enable the upstream ${name}`)) return
    const connection = await shell.connect()
    const one = connection.ops().engines({ name: encodeURIComponent(name) })
    showSaved(shell, expectData(await one.patch({ settings: { off: null }, test: !noTest })))
    shell.note(`undo: svc-admin engines disable ${name}`)
    sayInUse(shell, connection)
  },
})

const priceColumns = [
  column('id', 'ENGINE'),
  column('mode', 'MODE', { min: true }),
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
    'Prices are in micro-cents; a million micro-cents are one cent. SET BY shows where a price comes from. It is engines set-prices ("here"), SVC_PRICES, svc.server.json, the first upstream, or svc itself.',
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
  about: `The file lists micro-cents by engine: {"svc-1-flash": {"promptPer1k": 20000}}. Prices it does not list stay the same; null restores the engine's own price. New calls use the new prices on every node. Calls that are already running use the old ones.`,
  examples: ['engines set-prices -f prices.json --dry-run', 'engines set-prices -f prices.yaml --json'],
  apis: ['operator'],
  impact: 'write',
  exits: [5],
  columns: changedColumns,
  flags: { file: { ...text('FILE', 'the prices, as JSON, JSONC, YAML or TOML; - reads stdin'), short: 'f' } },
  async run(shell, { file }) {
    if (file === undefined) throw usageFailure('engines set-prices needs --file.', 'svc-admin engines prices --json')
    const prices = (await readValueFile(shell, file)) as Record<string, Record<string, number> | null>
    const connection = await shell.connect()
    const put = async (dry_run: boolean) => expectData(await connection.ops().engines.prices.put({ prices, dry_run }))
    const { prices: found } = await put(true)
    const isPlan = found.length > 0 && shell.planned(`change the prices of ${found.map(({ id }) => id).join(', ')}`)
    shell.print.list(found, changedColumns, 'These prices are already set.')
    if (isPlan || !found.length) return
    await put(false)
    sayInUse(shell, connection)
  },
})

export const engineSwitchCommands = [enableEngine, disableEngine, showPrices, setPrices]
