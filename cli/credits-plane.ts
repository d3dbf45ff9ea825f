import type { Connection } from './connection'
import { expectData } from './failure'
import { column } from './output/columns'
import type { Report } from './usage-plane'

export const BALANCE_COLUMNS = [
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

const PACE_DAYS = 7

/** An owner's balance over either API (dx 2.16). */
export async function balanceOver(connection: Connection, owner: string | undefined): Promise<object> {
  if (connection.plane === 'operator') {
    const ops = connection.ops()
    const query = owner === undefined ? {} : { owner }
    const balance = expectData(await ops.credits.get({ query }))
    return { ...balance, ...paceOf(expectData(await ops.usage.get({ query: { ...paceQuery(), ...query } })) as Report) }
  }
  const { client } = await connection.tenant()
  const report = expectData(await client.usage.get({ query: paceQuery() })) as Report
  const { balance_cents, reserved_cents, expiring } = report.balance
  const amounts = { balance_cents, held_cents: reserved_cents, available_cents: balance_cents - reserved_cents }
  return { object: 'balance', id: report.scope, owner: report.scope, ...amounts, expiring, ...paceOf(report) }
}

const paceQuery = () => ({ from: new Date(Date.now() - PACE_DAYS * 86_400_000).toISOString() })

/** `days_left` is in whole days; null when nothing was spent in the last week. */
function paceOf({ balance, spending, totals }: Report) {
  const aDay = totals.cost_cents / PACE_DAYS
  const left = balance.balance_cents - balance.reserved_cents
  const { daily_cap_cents, monthly_cap_cents } = spending
  return { daily_cap_cents, monthly_cap_cents, days_left: aDay > 0 ? Math.floor(left / aDay) : null }
}
