/**
 * `bun run prove overdraft [--rounds N]`: docs/promises.md I7 in full, on SQLite, or on Postgres with two
 * processes when SVC_TEST_POSTGRES_URL is set. Exits 1 when a single round ended otherwise.
 */
import { parseArgs } from 'node:util'
import { AFFORDED, AT_ONCE, runOverdraft } from './overdraft'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '50' } } })
const postgresUrl = process.env.SVC_TEST_POSTGRES_URL ?? null
const print = (line: string) => void process.stdout.write(`${line}\n`)

const rounds = await runOverdraft({
  rounds: Number(values.rounds),
  postgresUrl,
  onRound: (round) => round % 10 === 0 && print(`  ${round} of ${values.rounds} rounds`),
})
const wrong = rounds.filter(
  ({ statuses, balance, held }) =>
    statuses[200] !== AFFORDED || statuses[402] !== AT_ONCE - AFFORDED || balance !== 0 || held !== 0,
)
for (const round of wrong) print(`VIOLATION ${JSON.stringify(round)}`)
const where = postgresUrl ? 'two processes on Postgres' : 'SQLite'
print(`prove overdraft on ${where}: ${rounds.length} rounds of ${AT_ONCE} calls, ${wrong.length} wrong`)
process.exit(wrong.length ? 1 : 0)
