import { randomBase62 } from '../../src/kernel/crypto'
import { KeyId } from '../../src/kernel/ids'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { counted } from '../../src/kernel/text'
import { apiOf, columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { resolveKey } from '../resource'
import { requireReason } from '../shell'
import { argument, duration, flag, moment, money, optional, orNone, signedMoney, text, wholeCents } from '../words'
import { reporting } from './usage'

const columns = columnsOf`
  owner OWNER, id ID, balance_cents BALANCE¢ money, held_cents HELD¢ money, available_cents AVAILABLE¢ money`

/** Above this amount the command asks for confirmation, because it may be a typing error. */
const ASKS_ABOVE_CENTS = 100_000
const WHO = 'org by id, slug or name; user by id or e-mail; 6 characters of an id are enough'
const PACE_DAYS = 7

const differenceColumns = columnsOf`
  id OWNER, balance_cents BALANCE¢ money, ledger_cents LEDGER¢ money, held_cents HELD¢ money,
  open_cents OPEN-HOLDS¢ money, applied PUT-RIGHT flag`

const args = { owner: optional(WHO) }
const command = commandsOf('credits', { apis: ['operator'], args })

export const creditCommands = [
  command`grant (moderate, reason): Add credit to an org or a user, or complete a checkout
  The amount is currency with two decimals, 50.00, or cents, 5000c. It is added once for each --idempotency-key. The ledger and the audit record show it with its reason. Credit with --expires is spent first, and what is left of it then expires. --checkout completes a checkout that no payment processor handles, for its own amount and owner.
  $ credits grant acme 50.00 --reason "pilot"
  $ credits grant ada@example.com 5000c --reason refund --idempotency-key order-1182 --json
  $ credits grant acme 20.00 --expires 30d --reason trial
  $ credits grant --checkout 8f14e45f-ceea-467f-9575-1f0d9c2b7a10 --reason "transfer 1182 arrived"`({
    columns: [...columns, ...columnsOf`amount_cents GRANTED¢ money, expires_at EXPIRES time, ref REFERENCE`],
    args: { owner: optional(WHO), amount: { ...money('amount: 50.00 or 5000c'), required: false } },
    flags: {
      note: text('TEXT', 'note in the ledger; the reason by default'),
      expires: text('WHEN', 'when it expires: 90d from now, or an ISO date; never by default'),
      checkout: text('ID', 'complete this checkout, instead of an owner and an amount'),
    },
    async find({ globals }, { owner, amount, checkout }) {
      if (checkout) return { input: { checkout } }
      if (owner === undefined || amount === undefined)
        throw usageFailure(
          'credits grant needs an owner and an amount, or --checkout ID.',
          'svc-admin credits grant acme 50.00',
        )
      return { input: { owner, amount_cents: amount, idempotency_key: globals.idempotencyKey ?? randomBase62(24) } }
    },
    action: ({ owner, amount = 0, checkout }) =>
      checkout ? `complete checkout ${checkout}` : `grant ${spelled(amount)} to ${owner}`,
    question: ({ amount = 0, checkout }) => (!checkout && amount > ASKS_ABOVE_CENTS ? undefined : null),
    request({ ops, shell }, { input, expires, note = shell.globals.reason! }) {
      const expires_at = expires && moment(expires, shell.clock.now())
      return ops.credits.post({ ...input, ...defined({ expires_at }), note })
    },
    note: ({ already, ref }) => (already ? `${ref} was already granted. Nothing was added.` : undefined),
  }),
  command`adjust (moderate, reason): Correct a balance up or down
  The amount needs a sign: -5.00 subtracts 5.00 and +5.00 adds it; cents are written -500c. The balance cannot go below what running calls reserve. The amount is booked once for each --idempotency-key. The ledger shows both the original entries and the correction.
  $ credits adjust acme -5.00 --reason "granted twice"
  $ credits adjust ada@example.com +120c --reason goodwill -y`({
    columns: [...columns, ...columnsOf`amount_cents CHANGED¢ money, ref REFERENCE`],
    args: { owner: argument(WHO), amount: signedMoney('amount: -5.00 or +500c') },
    flags: { note: text('TEXT', 'note in the ledger; the reason by default') },
    action: ({ owner, amount }) =>
      `${amount < 0 ? 'take' : 'add'} ${spelled(Math.abs(amount))} ${amount < 0 ? 'from' : 'to'} ${owner}`,
    request({ ops, shell }, { owner, amount, note = shell.globals.reason! }) {
      const idempotency_key = shell.globals.idempotencyKey ?? randomBase62(24)
      return ops.credits.adjustments.post({ owner, amount_cents: amount, note, idempotency_key })
    },
    note: ({ already, ref }) => (already ? `${ref} was already booked. Nothing was changed.` : undefined),
  }),
  command`code (secret once, reason, exits 5, delivers code): Create a code that completes one checkout
  For servers without a payment processor. A person who opened a checkout of exactly this amount enters the code on its page, and the credit is added. The code works once, and expires after 30 days unless --expires sets another time. It is shown only once.
  $ credits code 50.00 --reason "transfer 1182 arrived"
  $ credits code 5000c --expires 7d --reason pilot --secret-to code.txt`({
    columns: columnsOf`code CODE, amount_cents AMOUNT¢ money, expires_at EXPIRES time`,
    args: { amount: money('amount: 50.00 or 5000c') },
    flags: { expires: duration('TIME', 'how long it works: 7d, 24h') },
    action: ({ amount }) => `create a code for ${spelled(amount)}`,
    request({ ops, shell }, { amount, expires }) {
      const valid = expires === undefined ? {} : { valid_seconds: Math.round(expires / 1000) }
      return ops.credits.codes.post({ amount_cents: amount, note: shell.globals.reason!, ...valid })
    },
  }),
  command`caps: Set the daily and monthly spending cap of an owner or key
  Caps of an owner count all its spending, with every key. Caps of a key count only calls with that key. Calls above a cap get 402 until 00:00 UTC, or until you raise the cap. Caps that you do not name stay the same; none removes a cap.
  $ credits caps acme --daily 50.00
  $ credits caps set ci --daily none --monthly 1000.00`({
    columns: columnsOf`
      scope SCOPE, daily_cap_cents CAP/DAY¢ money, usage.daily_used_cents TODAY¢ money,
      monthly_cap_cents CAP/MONTH¢ money, usage.monthly_used_cents MONTH¢ money`,
    args: { owner: argument('org or user as in credits grant, or a key by id, prefix or name') },
    flags: {
      daily: orNone(wholeCents('AMOUNT', 'maximum in one UTC day')),
      monthly: orNone(wholeCents('AMOUNT', 'maximum in one UTC month')),
    },
    action({ owner, daily, monthly }) {
      if (daily !== undefined || monthly !== undefined) return `set the caps of ${owner}`
      throw usageFailure('credits caps needs a cap to change.', 'add --daily or --monthly')
    },
    async answer({ api, ops }, { owner, daily, monthly }): Promise<object> {
      const wanted = defined({ daily_cap_cents: daily, monthly_cap_cents: monthly })
      const reply = await ops.credits.caps.put({ owner, ...wanted })
      const id = reply.status === 404 ? await resolveKey(api, owner) : ''
      if (!KeyId.is(id)) return expectData(reply)
      const key = expectData(await api.keys({ ref: id }).put(wanted))
      const { daily_cap_cents, monthly_cap_cents, spent_today_cents, spent_month_cents } = key
      const usage = { daily_used_cents: spent_today_cents, monthly_used_cents: spent_month_cents }
      return { object: 'key_caps', id, scope: 'key', daily_cap_cents, monthly_cap_cents, usage }
    },
  }),
  command`balance OWNER (operator, tenant, exits 3 5): Show an owner's balance, reserved and available credit, and days left
  HELD is the credit reserved by running calls. EXPIRING is the credit that expires next; --json lists all of it. DAYS-LEFT estimates how long the rest lasts at the pace of the last seven days. Without OWNER it shows the account that the first start created, or that account's active org. Over --url it shows the wallet that pays for the key in use.
  $ credits balance
  $ credits balance acme --json
  $ credits balance ada@example.com`({
    columns: columnsOf`
      owner OWNER, id ID, balance_cents BALANCE¢ money, held_cents HELD¢ money, available_cents AVAILABLE¢ money,
      expiring.0.amount_cents EXPIRING¢ money, expiring.0.expires_at EXPIRES time, daily_cap_cents CAP/DAY¢ money,
      monthly_cap_cents CAP/MONTH¢ money, days_left DAYS-LEFT number`,
    /** Operators request the balance. For a tenant it is part of the usage report. */
    async answer({ ops, shell }, { owner = shell.globals.org }) {
      const { isOperator, ownerFilter } = await apiOf(shell, { owner })
      const balance = isOperator ? expectData(await ops.credits.get({ query: ownerFilter })) : null
      const from = new Date(shell.clock.now() - PACE_DAYS * 86_400_000).toISOString()
      const { scope, spending, totals, ...report } = await reporting(shell, owner)({ from })
      const { balance_cents, reserved_cents: held_cents, expiring } = report.balance
      const available_cents = balance_cents - held_cents
      const wallet = {
        object: 'balance',
        id: scope,
        owner: scope,
        balance_cents,
        held_cents,
        available_cents,
        expiring,
      }
      const { daily_cap_cents, monthly_cap_cents } = spending
      const aDay = totals.cost_cents / PACE_DAYS
      // Unknown when nothing was spent in the last week.
      const days_left = aDay > 0 ? Math.floor(available_cents / aDay) : null
      return { ...(balance ?? wallet), daily_cap_cents, monthly_cap_cents, days_left }
    },
  }),
  command`ledger OWNER (exits 3 5, pages entries): Show every ledger entry of an owner, with the balance after it
  Lists the newest entries first. A settle entry is the cost of a call, and its reference ends with the id of the request. A page can have fewer rows than you asked for even if more exist; continue with --cursor or --all.
  $ credits ledger acme
  $ credits ledger acme --all -o csv > ledger.csv
  $ credits ledger acme --ref req_1f4xEU9WTdZBc4YIr2VvP0Ba
  $ credits ledger ada@example.com --json`({
    columns: columnsOf`
      at TIME time, kind KIND, amount_cents AMOUNT¢ money, balance_cents BALANCE¢ money, ref REFERENCE, note NOTE,
      id ROW number wide`,
    flags: { ref: text('REF', 'rows with this reference, or of this request') },
    request: ({ ops, shell, page }, { owner = shell.globals.org, ref }) =>
      ops.credits.ledger.get({ query: defined({ ...page, owner: owner || undefined, ref: ref || undefined }) }),
    empty: 'No entries yet.',
  }),
  command`reconcile (writes, moderate, exits 9): Recompute every balance from the ledger and list differences
  A balance must equal the sum of its owner's ledger rows. Held credit must equal the sum of the open holds. Exits 9 when a wallet differs. --apply sets the wallet to the ledger's sum and records the change. It skips a wallet that would become negative or smaller than its holds; correct those yourself.
  $ credits reconcile
  $ credits reconcile --apply --reason "restored from a copy" -y`({
    columns: differenceColumns,
    flags: { apply: flag('correct what differs') },
    async run(shell, { apply }) {
      if (apply) requireReason(shell, 'credits reconcile --apply')
      const ops = (await shell.connect()).ops()
      const found = expectData(await ops.credits.differences.get())
      const count = counted(found.differences.length, 'balance')
      const goesOn = apply && found.differences.length > 0 && !shell.planned(`put ${count} right`)
      if (goesOn) shell.confirm(`Set ${count} to the ledger's sum?`)
      const { ok, differences } = goesOn ? expectData(await ops.credits.differences.post()) : found
      shell.print.list(differences, differenceColumns, 'Every balance matches its ledger.')
      if (!ok && !shell.globals.dryRun) throw new CheckFailed()
    },
  }),
]

const spelled = (cents: number): string => `${spellCents(centsToMicro(cents))} cents`
