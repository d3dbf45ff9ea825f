import { randomBase62 } from '../../src/kernel/crypto'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { requireReason } from '../reason'
import { argument, money, optional, text } from '../words'

const columns = [
  column('owner', 'OWNER'),
  column('id', 'ID'),
  column('balance_cents', 'BALANCE¢', { kind: 'money' }),
  column('held_cents', 'HELD¢', { kind: 'money' }),
  column('available_cents', 'AVAILABLE¢', { kind: 'money' }),
]

const grantColumns = [...columns, column('amount_cents', 'GRANTED¢', { kind: 'money' }), column('ref', 'REFERENCE')]

/** Above this a slip of the finger is worth a question. */
const ASKS_ABOVE_CENTS = 100_000

const WHO = 'org by id, slug or name; user by id or e-mail address'

export const balance = defineCommand({
  path: 'credits balance',
  summary: 'Show what an owner has, what is held and what is left',
  about: 'Held is what calls that are running have reserved. Without a name it is the org that the first run made.',
  examples: ['credits balance', 'credits balance acme --json', 'credits balance ada@example.com'],
  planes: ['operator'],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [3, 5, 7],
  columns,
  watchable: true,
  args: { owner: optional(WHO) },
  async run(shell, { owner = shell.globals.org }) {
    const connection = await shell.connect()
    shell.print.item(expectData(await connection.ops().credits.get({ query: owner ? { owner } : {} })), columns)
  },
})

export const grant = defineCommand({
  path: 'credits grant',
  summary: 'Add credit to an org or a user',
  about:
    'The amount is currency with two places, 50.00, or cents, 5000c. It is booked once for each --idempotency-key, and stands in the ledger and the audit record with the reason.',
  examples: [
    'credits grant acme 50.00 --reason "pilot"',
    'credits grant ada@example.com 5000c --reason refund --idempotency-key order-1182 --json',
  ],
  planes: ['operator'],
  offline: true,
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5, 7, 10],
  columns: grantColumns,
  args: { owner: argument(WHO), amount: money('how much: 50.00 or 5000c') },
  flags: { note: text('TEXT', 'what the ledger says; the reason unless given') },
  async run(shell, { owner, amount, note }) {
    const reason = requireReason(shell, 'credits grant')
    const sum = `${spellCents(centsToMicro(amount))} cents`
    if (shell.planned(`grant ${sum} to ${owner}`)) return
    if (amount > ASKS_ABOVE_CENTS) shell.confirm(`Grant ${sum} to ${owner}?`)
    const key = shell.globals.idempotencyKey ?? randomBase62(24)
    const connection = await shell.connect()
    const body = { owner, amount_cents: amount, note: note ?? reason, idempotency_key: key }
    const made = expectData(await connection.ops().credits.post(body))
    shell.print.item(made, grantColumns)
    if (made.already) shell.note(`${made.ref} was granted before; nothing was added.`)
  },
})

export const creditCommands = [balance, grant]
