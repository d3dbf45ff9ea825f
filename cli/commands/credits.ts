import type { KeyPatch } from '../../src/accounts/keys/schema'
import { randomBase62 } from '../../src/kernel/crypto'
import { KeyId } from '../../src/kernel/ids'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { resolveKey } from '../resolve'
import { prepareSecret, SECRET_FLAGS } from '../secret'
import type { Shell } from '../shell'
import { requireReason } from '../shell'
import { argument, duration, money, optional, orNone, signedMoney, text, wholeCents } from '../words'
import { moment } from './keys-input'

const columns = [
  column('owner', 'OWNER'),
  column('id', 'ID'),
  column('balance_cents', 'BALANCE¢', { kind: 'money' }),
  column('held_cents', 'HELD¢', { kind: 'money' }),
  column('available_cents', 'AVAILABLE¢', { kind: 'money' }),
]

const adjustColumns = [...columns, column('amount_cents', 'CHANGED¢', { kind: 'money' }), column('ref', 'REFERENCE')]

const codeColumns = [
  column('code', 'CODE'),
  column('amount_cents', 'AMOUNT¢', { kind: 'money' }),
  column('expires_at', 'EXPIRES', { kind: 'time' }),
]

const capColumns = [
  column('scope', 'SCOPE'),
  column('daily_cap_cents', 'CAP/DAY¢', { kind: 'money' }),
  column('usage.daily_used_cents', 'TODAY¢', { kind: 'money' }),
  column('monthly_cap_cents', 'CAP/MONTH¢', { kind: 'money' }),
  column('usage.monthly_used_cents', 'MONTH¢', { kind: 'money' }),
]

const grantColumns = [
  ...columns,
  column('amount_cents', 'GRANTED¢', { kind: 'money' }),
  column('expires_at', 'EXPIRES', { kind: 'time' }),
  column('ref', 'REFERENCE'),
]

/** Above this amount the command asks for confirmation, because it may be a typing error. */
const ASKS_ABOVE_CENTS = 100_000

export const WHO = 'org by id, slug or name; user by id or e-mail; 6 characters of an id are enough'

const grant = defineCommand({
  path: 'credits grant',
  summary: 'Add credit to an org or a user, or complete a checkout',
  about:
    'The amount is currency with two decimals, 50.00, or cents, 5000c. It is added once for each --idempotency-key. The ledger and the audit record show it with its reason. Credit with --expires is spent first, and what is left of it then expires. --checkout completes a checkout that no payment processor handles, for its own amount and owner.',
  examples: [
    'credits grant acme 50.00 --reason "pilot"',
    'credits grant ada@example.com 5000c --reason refund --idempotency-key order-1182 --json',
    'credits grant acme 20.00 --expires 30d --reason trial',
    'credits grant --checkout 8f14e45f-ceea-467f-9575-1f0d9c2b7a10 --reason "transfer 1182 arrived"',
  ],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns: grantColumns,
  args: { owner: optional(WHO), amount: { ...money('amount: 50.00 or 5000c'), required: false } },
  flags: {
    note: text('TEXT', 'note in the ledger; the reason by default'),
    expires: text('WHEN', 'when it expires: 90d from now, or an ISO date; never by default'),
    checkout: text('ID', 'complete this checkout, instead of an owner and an amount'),
  },
  async run(shell, { owner, amount, note, expires, checkout }) {
    const reason = requireReason(shell, 'credits grant')
    const input = checkout ? { checkout } : inputOf(shell, owner, amount)
    const what =
      'checkout' in input ? `complete checkout ${checkout}` : `grant ${spelled(input.amount_cents)} to ${owner}`
    if (shell.planned(what)) return
    const isLarge = 'amount_cents' in input && input.amount_cents > ASKS_ABOVE_CENTS
    if (isLarge) shell.confirm(`${what[0]!.toUpperCase()}${what.slice(1)}?`)
    const connection = await shell.connect()
    const end = expires === undefined ? {} : { expires_at: moment(expires, shell.clock.now()) }
    const body = { ...input, ...end, note: note ?? reason }
    const made = expectData(await connection.ops().credits.post(body))
    shell.print.item(made, grantColumns)
    if (made.already) shell.note(`${made.ref} was already granted. Nothing was added.`)
  },
})

/** The owner and amount of a grant. @throws CommandFailed 2 when one is missing */
function inputOf({ globals }: Shell, owner: string | undefined, amount: number | undefined) {
  if (owner === undefined || amount === undefined) {
    throw usageFailure('credits grant needs an owner and an amount, or --checkout ID.', 'credits grant acme 50.00')
  }
  return { owner, amount_cents: amount, idempotency_key: globals.idempotencyKey ?? randomBase62(24) }
}

const adjust = defineCommand({
  path: 'credits adjust',
  summary: 'Correct a balance up or down',
  about:
    'The amount needs a sign: -5.00 subtracts 5.00 and +5.00 adds it; cents are written -500c. The balance cannot go below what running calls reserve. The amount is booked once for each --idempotency-key. The ledger shows both the original entries and the correction.',
  examples: [
    'credits adjust acme -5.00 --reason "granted twice"',
    'credits adjust ada@example.com +120c --reason goodwill -y',
  ],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns: adjustColumns,
  args: { owner: argument(WHO), amount: signedMoney('amount: -5.00 or +500c') },
  flags: { note: text('TEXT', 'note in the ledger; the reason by default') },
  async run(shell, { owner, amount, note }) {
    const reason = requireReason(shell, 'credits adjust')
    const what = `${amount < 0 ? 'take' : 'add'} ${spelled(Math.abs(amount))} ${amount < 0 ? 'from' : 'to'} ${owner}`
    if (shell.planned(what)) return
    shell.confirm(`${what[0]!.toUpperCase()}${what.slice(1)}?`)
    const key = shell.globals.idempotencyKey ?? randomBase62(24)
    const body = { owner, amount_cents: amount, note: note ?? reason, idempotency_key: key }
    const made = expectData(await (await shell.connect()).ops().credits.adjustments.post(body))
    shell.print.item(made, adjustColumns)
    if (made.already) shell.note(`${made.ref} was already booked. Nothing was changed.`)
  },
})

const code = defineCommand({
  path: 'credits code',
  summary: 'Create a code that completes one checkout',
  about:
    'For servers without a payment processor. A person who opened a checkout of exactly this amount enters the code on its page, and the credit is added. The code works once, and expires after 30 days unless --expires sets another time. It is shown only once.',
  examples: [
    'credits code 50.00 --reason "transfer 1182 arrived"',
    'credits code 5000c --expires 7d --reason pilot --secret-to code.txt',
  ],
  apis: ['operator'],
  impact: 'write',
  danger: 'secret once',
  exits: [5],
  columns: codeColumns,
  args: { amount: money('amount: 50.00 or 5000c') },
  flags: { expires: duration('TIME', 'how long it works: 7d, 24h'), ...SECRET_FLAGS },
  async run(shell, { amount, expires, secretTo, copy }) {
    const reason = requireReason(shell, 'credits code')
    if (shell.planned(`create a code for ${spelled(amount)}`)) return
    const secret = prepareSecret(shell, 'code', { secretTo, copy })
    const valid = expires === undefined ? {} : { valid_seconds: Math.round(expires / 1000) }
    try {
      const made = await (await shell.connect())
        .ops()
        .credits.codes.post({ amount_cents: amount, note: reason, ...valid })
      secret.deliver(expectData(made), codeColumns)
    } catch (error) {
      secret.abandon()
      throw error
    }
  },
})

const caps = defineCommand({
  path: 'credits caps',
  summary: 'Set the daily and monthly spending cap of an owner or key',
  about:
    'Caps of an owner count all its spending, with every key. Caps of a key count only calls with that key. Calls above a cap get 402 until 00:00 UTC, or until you raise the cap. Caps that you do not name stay the same; none removes a cap.',
  examples: ['credits caps acme --daily 50.00', 'credits caps set ci --daily none --monthly 1000.00'],
  apis: ['operator'],
  impact: 'write',
  exits: [3, 5],
  columns: capColumns,
  args: { owner: argument('org or user as in credits grant, or a key by id, prefix or name') },
  flags: {
    daily: orNone(wholeCents('AMOUNT', 'maximum in one UTC day')),
    monthly: orNone(wholeCents('AMOUNT', 'maximum in one UTC month')),
  },
  async run(shell, { owner, daily, monthly }) {
    const wanted = {
      ...(daily === undefined ? {} : { daily_cap_cents: daily }),
      ...(monthly === undefined ? {} : { monthly_cap_cents: monthly }),
    }
    if (!Object.keys(wanted).length)
      throw usageFailure('credits caps needs a cap to change.', 'add --daily or --monthly')
    if (shell.planned(`set the caps of ${owner}`)) return
    const connection = await shell.connect()
    const reply = await connection.ops().credits.caps.put({ owner, ...wanted })
    const ofKey = reply.status === 404 ? await capKey(shell, owner, wanted) : null
    shell.print.item(ofKey ?? expectData(reply), capColumns)
  },
})

/** The same for a key; null when the word does not name a key either. */
async function capKey(shell: Shell, word: string, caps: KeyPatch) {
  const { api } = await apiOf(shell)
  const id = await resolveKey(api, word)
  if (!KeyId.is(id)) return null
  const key = expectData(await api.keys({ ref: id }).put(caps))
  const { daily_cap_cents, monthly_cap_cents, spent_today_cents, spent_month_cents } = key
  const usage = { daily_used_cents: spent_today_cents, monthly_used_cents: spent_month_cents }
  return { object: 'key_caps', id, scope: 'key', daily_cap_cents, monthly_cap_cents, usage }
}

const spelled = (cents: number): string => `${spellCents(centsToMicro(cents))} cents`

export const creditCommands = [grant, adjust, code, caps]
