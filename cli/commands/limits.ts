import { TIERS } from '../../src/kernel/caller'
import type { RateLimits } from '../../src/limits/schema'
import { apiOf, column, columnsOf, commandsOf, defined } from '../command'
import { expectData, usageFailure } from '../failure'
import { valueAt } from '../output/columns'
import { pageIn } from '../pages'
import { findKey, operatedArgument, resolveKey } from '../resource'
import { choice, flag, oneOf, optional, text } from '../words'
import { keyArgument, columns as keyColumns } from './keys'

/** PEAK is the busiest minute of the last seven days, shown beside the current and the requested limits. */
const requestColumns = columnsOf`
  id ID, status STATUS, current_tier FROM, requested_tier ASKS, granted_tier GOT, peak.requests PEAK/MIN number,
  current_limits.requests NOW/MIN number, requested_limits.requests ASKS/MIN number, peak.tokens PEAK-TOKENS number,
  requested_limits.tokens ASKS-TOKENS number wide,
  user_id WHO ${({ user_id }, whole) => String(user_id).slice(0, whole ? 36 : 8)}, key_id KEY wide,
  expected_volume VOLUME, use_case USE CASE, reason REASON wide, created ASKED time, decided_at DECIDED time wide`

/** One rate-limit window: `12 of 60 used, 48 left, resets in 23s`. */
const windowColumn = (field: string, header: string) =>
  column(field, header, {
    show: (row) => {
      const { limit, remaining, reset } = valueAt(row, field) as RateLimits['usage']['requests']
      return `${limit - remaining} of ${limit} used, ${remaining} left, resets in ${reset}`
    },
  })

const windowColumns = [
  column('tier', 'TIER'),
  windowColumn('usage.requests', 'REQUESTS'),
  windowColumn('usage.tokens', 'TOKENS'),
  ...(['text', 'stealth', 'image', 'research', 'video'] as const).map((group) =>
    windowColumn(`usage.modes.${group}`, group.toUpperCase()),
  ),
]

const args = {
  request: operatedArgument('request', /^rli_\w{24}$/, (ops, query) => pageIn(ops.limits.get({ query }), 'requests')),
}
const command = commandsOf('limits', { apis: ['operator'], columns: requestColumns, args })
const note = { note: text('TEXT', 'message to the requester; the reason by default') }
const deciding = { danger: 'moderate', args, reason: true } as const

export const limitCommands = [
  command`show (operator, tenant, live, exits 3 5): Show the limits of a key and what is left of them this minute
  Shows the sliding window of the rate limiter. On the server's machine, or with an operator key, you can name any key. With an API key it shows that key.
  $ limits show ci
  $ limits show ci --watch
  $ limits show --url https://svc.example --key-file ci.key`({
    columns: windowColumns,
    args: { key: optional('id, 6 or more characters of it, prefix or name of a key') },
    async answer({ api, isOperator, shell }, { key }): Promise<object> {
      const { ops, tenant } = await shell.connect()
      if (!isOperator) return expectData(await (await tenant()).client['rate-limits'].get())
      if (!key) throw usageFailure('limits show needs a KEY.', 'svc-admin keys list')
      return expectData(
        await ops()
          .keys({ ref: await resolveKey(api, key) })
          .limits.get(),
      )
    },
  }),
  command`list (exits, pages requests): List requests for higher limits, newest first
  Shows requests that wait for a decision; --all-states adds decided ones. PEAK is the key's busiest minute of the last seven days, next to the current and the requested limit.
  $ limits list
  $ limits list --all-states --json`({
    flags: { allStates: flag('include decided ones') },
    request: ({ ops, page }, { allStates }) =>
      ops.limits.get({ query: { ...page, ...(allStates ? {} : { status: 'pending' as const }) } }),
    empty: 'No requests for higher limits.',
  }),
  command`get REQUEST: Show one request for higher limits
  Shows the requested limit, the reason and the decision.
  $ limits get rli_8Zk3Qd7VbW1xT5nL0aRfYc2M`({
    request: ({ ops }, { request }) => ops.limits({ ref: request }).get(),
  }),
  command`approve: Approve the requested tier for a key, or another one
  Takes effect with the key's next request. The owner is notified. The reason appears in the answer and in the audit record.
  $ limits approve rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --yes --reason "contract signed"
  $ limits approve rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --tier starter --yes --reason "for a start" --json`({
    ...deciding,
    flags: { tier: choice(TIERS, 'a tier other than the requested one'), ...note },
    action: ({ request }) => `approve ${request}`,
    request: ({ ops, shell }, { request, tier, note }) =>
      ops.limits({ ref: request }).post({
        decision: 'approve',
        reason: note ?? shell.globals.reason!,
        ...defined({ tier }),
      }),
  }),
  command`reject: Reject a request for a higher tier
  The owner can ask again. The reason appears in the answer and in the audit record.
  $ limits reject rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --yes --reason "no billing history yet"
  $ limits reject rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --yes --reason "use the batch endpoint" --json`({
    ...deciding,
    flags: note,
    action: ({ request }) => `reject ${request}`,
    request: ({ ops, shell }, { request, note }) =>
      ops.limits({ ref: request }).post({ decision: 'reject', reason: note ?? shell.globals.reason! }),
  }),
]

const tierColumns = [
  column('id', 'TIER'),
  ...(['rpm', 'tpm', 'text', 'stealth', 'image', 'research', 'video'] as const).map((limit) =>
    column(limit, limit.toUpperCase(), { kind: 'number' }),
  ),
  column('changed', 'NOT-THE-DEFAULT', { kind: 'list' }),
]

const tierCommand = commandsOf('tiers', { apis: ['operator'] })

export const tierCommands = [
  tierCommand`list (exits, shows tiers): Show the limits of each tier
  Shows requests, tokens, and the requests of each group of modes. NOT-THE-DEFAULT names the limits that SVC_TIERS changes.
  $ tiers list`({
    columns: tierColumns,
    request: ({ ops }) => ops.tiers.get(),
    empty: 'No tiers.',
  }),
  tierCommand`set (reason): Move a key to another tier of rate limits
  Takes effect with the key's next request. If the limits rise, the owner is notified (rate_limit.upgraded).
  $ tiers set ci pro --reason "contract signed"
  $ tiers set 3f9a01 free --reason "trial is over" --json`({
    columns: keyColumns,
    args: { ...keyArgument, tier: oneOf(TIERS, `one of ${TIERS.join(', ')}`) },
    find: async (shell, { key }) => ({ before: await findKey((await apiOf(shell)).api, key) }),
    action: ({ before, tier }) => `move key "${before.name}" from ${before.tier} to ${tier}`,
    request: ({ ops }, { before, tier }) => ops.tiers({ ref: before.id }).put({ tier }),
    note: (_, { before }) => `undo: svc-admin tiers set ${before.id.slice(0, 8)} ${before.tier} --reason …`,
  }),
]
