import { apiOf } from '../api'
import { defineCommand } from '../command'
import { CheckFailed, expectData } from '../failure'
import { column } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import type { Shell } from '../shell'
import { requireReason } from '../shell'
import { flag, optional, text } from '../words'
import { WHO } from './credits'
import { type Report, reporting } from './usage'

const balanceColumns = [
  column('owner', 'OWNER'),
  column('id', 'ID'),
  column('balance_cents', 'BALANCE¢', { kind: 'money' }),
  column('held_cents', 'HELD¢', { kind: 'money' }),
  column('available_cents', 'AVAILABLE¢', { kind: 'money' }),
  column('expiring.0.amount_cents', 'EXPIRING¢', { kind: 'money' }),
  column('expiring.0.expires_at', 'EXPIRES', { kind: 'time' }),
  column('daily_cap_cents', 'CAP/DAY¢', { kind: 'money' }),
  column('monthly_cap_cents', 'CAP/MONTH¢', { kind: 'money' }),
  column('days_left', 'DAYS-LEFT', { kind: 'number' }),
]

const balance = defineCommand({
  path: 'credits balance',
  summary: "Show an owner's balance, reserved and available credit, and days left",
  about:
    "HELD is the credit reserved by running calls. EXPIRING is the credit that expires next; --json lists all of it. DAYS-LEFT estimates how long the rest lasts at the pace of the last seven days. Without OWNER it shows the account that the first start created, or that account's active org. Over --url it shows the wallet that pays for the key in use.",
  examples: ['credits balance', 'credits balance acme --json', 'credits balance ada@example.com'],
  apis: ['operator', 'tenant'],
  impact: 'read',
  exits: [3, 5],
  columns: balanceColumns,
  watchable: true,
  args: { owner: optional(WHO) },
  async run(shell, { owner = shell.globals.org }) {
    shell.print.item(await balanceOf(shell, owner), balanceColumns)
  },
})

const PACE_DAYS = 7

/** Operators ask for the balance; a tenant's report has it. */
async function balanceOf(shell: Shell, owner: string | undefined): Promise<object> {
  const { isOperator, ownerFilter } = await apiOf(shell, { owner })
  const balance = isOperator
    ? expectData(await (await shell.connect()).ops().credits.get({ query: ownerFilter }))
    : null
  const from = new Date(shell.clock.now() - PACE_DAYS * 86_400_000).toISOString()
  const report = await reporting(shell, owner)({ from })
  return { ...(balance ?? reportedBalance(report)), ...paceOf(report) }
}

function reportedBalance({ scope, balance }: Report) {
  const { balance_cents, reserved_cents: held_cents, expiring } = balance
  const amounts = { balance_cents, held_cents, available_cents: balance_cents - held_cents }
  return { object: 'balance', id: scope, owner: scope, ...amounts, expiring }
}

/** `days_left` is in whole days; null when nothing was spent in the last week. */
function paceOf({ balance, spending, totals }: Report) {
  const aDay = totals.cost_cents / PACE_DAYS
  const left = balance.balance_cents - balance.reserved_cents
  const { daily_cap_cents, monthly_cap_cents } = spending
  return { daily_cap_cents, monthly_cap_cents, days_left: aDay > 0 ? Math.floor(left / aDay) : null }
}

const ledgerColumns = [
  column('at', 'TIME', { kind: 'time' }),
  column('kind', 'KIND'),
  column('amount_cents', 'AMOUNT¢', { kind: 'money' }),
  column('balance_cents', 'BALANCE¢', { kind: 'money' }),
  column('ref', 'REFERENCE'),
  column('note', 'NOTE'),
  column('id', 'ROW', { kind: 'number', wide: true }),
]

const ledger = defineCommand({
  path: 'credits ledger',
  summary: 'Show every ledger entry of an owner, with the balance after it',
  about:
    'Lists the newest entries first. A settle entry is the cost of a call, and its reference ends with the id of the request. A page can have fewer rows than you asked for even if more exist; continue with --cursor or --all.',
  examples: [
    'credits ledger acme',
    'credits ledger acme --all -o csv > ledger.csv',
    'credits ledger acme --ref req_1f4xEU9WTdZBc4YIr2VvP0Ba',
    'credits ledger ada@example.com --json',
  ],
  apis: ['operator'],
  impact: 'read',
  exits: [3, 5],
  columns: ledgerColumns,
  args: { owner: optional(WHO) },
  flags: {
    ref: text('REF', 'rows with this reference, or of this request'),
    ...pageFlags,
  },
  async run(shell, { owner = shell.globals.org, ref, ...paging }) {
    const ops = (await shell.connect()).ops()
    const page = async (input: PageQuery) => {
      const query = { ...input, ...(owner ? { owner } : {}), ...(ref ? { ref } : {}) }
      const { entries, next_cursor } = expectData(await ops.credits.ledger.get({ query }))
      return { items: entries, next: next_cursor }
    }
    await printPages(shell, paging, { page, columns: ledgerColumns, empty: 'No entries yet.' })
  },
})

const differenceColumns = [
  column('id', 'OWNER'),
  column('balance_cents', 'BALANCE¢', { kind: 'money' }),
  column('ledger_cents', 'LEDGER¢', { kind: 'money' }),
  column('held_cents', 'HELD¢', { kind: 'money' }),
  column('open_cents', 'OPEN-HOLDS¢', { kind: 'money' }),
  column('applied', 'PUT-RIGHT', { kind: 'flag' }),
]

const reconcile = defineCommand({
  path: 'credits reconcile',
  summary: 'Recompute every balance from the ledger and list differences',
  about:
    "A balance must equal the sum of its owner's ledger rows. Held credit must equal the sum of the open holds. Exits 9 when a wallet differs. --apply sets the wallet to the ledger's sum and records the change. It skips a wallet that would become negative or smaller than its holds; correct those yourself.",
  examples: ['credits reconcile', 'credits reconcile --apply --reason "restored from a copy" -y'],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [9],
  columns: differenceColumns,
  flags: { apply: flag('correct what differs') },
  async run(shell, { apply }) {
    if (apply) requireReason(shell, 'credits reconcile --apply')
    const ops = (await shell.connect()).ops()
    const found = expectData(await ops.credits.differences.get())
    const count = `${found.differences.length} ${found.differences.length === 1 ? 'balance' : 'balances'}`
    const goesOn = apply && found.differences.length > 0 && !shell.planned(`put ${count} right`)
    if (goesOn) shell.confirm(`Set ${count} to the ledger's sum?`)
    const { ok, differences } = goesOn ? expectData(await ops.credits.differences.post()) : found
    shell.print.list(differences, differenceColumns, 'Every balance matches its ledger.')
    if (!ok && !shell.globals.dryRun) throw new CheckFailed()
  },
})

export const bookCommands = [balance, ledger, reconcile]
