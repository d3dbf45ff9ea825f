import { TIERS } from '../../src/kernel/caller'
import type { RateLimits } from '../../src/limits/schema'
import { apiOf } from '../api'
import { commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { column, columnsOf, valueAt } from '../output/columns'
import { type PageQuery, pageFlags, pageIn, printPages } from '../pages'
import { findKey, resolveKey } from '../resource'
import { requireReason } from '../shell'
import { argument, choice, flag, optional, text } from '../words'
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

const command = commandsOf('limits', { apis: ['operator'] })

const showLimits = command('show', {
  summary: 'Show the limits of a key and what is left of them this minute',
  about:
    "Shows the sliding window of the rate limiter. On the server's machine, or with an operator key, you can name any key. With an API key it shows that key.",
  examples: ['limits show ci', 'limits show ci --watch', 'limits show --url https://svc.example --key-file ci.key'],
  apis: ['operator', 'tenant'],
  offline: false,
  exits: [3, 5],
  columns: windowColumns,
  watchable: true,
  args: { key: optional('id, 6 or more characters of it, prefix or name of a key') },
  async run(shell, { key }) {
    const connection = await shell.connect()
    if (connection.api === 'tenant') {
      const { client } = await connection.tenant()
      shell.print.item(expectData(await client['rate-limits'].get()), windowColumns)
      return
    }
    if (!key) throw usageFailure('limits show needs a KEY.', 'svc-admin keys list')
    const id = await resolveKey((await apiOf(shell)).api, key)
    const one = connection.ops().keys({ ref: encodeURIComponent(id) })
    shell.print.item(expectData(await one.limits.get()), windowColumns)
  },
})

const listRequests = command('list', {
  summary: 'List requests for higher limits, newest first',
  about:
    "Shows requests that wait for a decision; --all-states adds decided ones. PEAK is the key's busiest minute of the last seven days, next to the current and the requested limit.",
  examples: ['limits list', 'limits list --all-states --json'],
  columns: requestColumns,
  watchable: true,
  flags: {
    allStates: flag('include decided ones'),
    ...pageFlags,
  },
  exits: [],
  async run(shell, { allStates, ...paging }) {
    const connection = await shell.connect()
    const state = allStates ? {} : { status: 'pending' as const }
    const page = (input: PageQuery) =>
      pageIn(connection.ops().limits.get({ query: { ...input, ...state } }), 'requests')
    await printPages(shell, paging, { page, columns: requestColumns, empty: 'No requests for higher limits.' })
  },
})

const requestArgument = { request: argument('id of the request: rli_…') }

const getRequest = command('get', {
  summary: 'Show one request for higher limits',
  about: 'Shows the requested limit, the reason and the decision.',
  examples: ['limits get rli_8Zk3Qd7VbW1xT5nL0aRfYc2M', 'limits get rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --json'],
  columns: requestColumns,
  args: requestArgument,
  async run(shell, { request }) {
    const one = (await shell.connect()).ops().limits({ ref: encodeURIComponent(request) })
    shell.print.item(expectData(await one.get()), requestColumns)
  },
})

const note = { note: text('TEXT', 'message to the requester; the reason by default') }

const deciding = { impact: 'write', danger: 'moderate', columns: requestColumns, args: requestArgument } as const

const approveRequest = command('approve', {
  ...deciding,
  summary: 'Approve the requested tier for a key, or another one',
  about:
    "Takes effect with the key's next request. The owner is notified. The reason appears in the answer and in the audit record.",
  examples: [
    'limits approve rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --yes --reason "contract signed"',
    'limits approve rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --tier starter --yes --reason "for a start" --json',
  ],
  flags: { tier: choice(TIERS, 'a tier other than the requested one'), ...note },
  async run(shell, { request, tier, note }) {
    const reason = requireReason(shell, 'limits approve')
    if (shell.planned(`approve ${request}`)) return
    shell.confirm(`Approve ${request}?`)
    const one = (await shell.connect()).ops().limits({ ref: encodeURIComponent(request) })
    const body = { decision: 'approve' as const, reason: note ?? reason, ...(tier ? { tier } : {}) }
    shell.print.item(expectData(await one.post(body)), requestColumns)
  },
})

const rejectRequest = command('reject', {
  ...deciding,
  summary: 'Reject a request for a higher tier',
  about: 'The owner can ask again. The reason appears in the answer and in the audit record.',
  examples: [
    'limits reject rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --yes --reason "no billing history yet"',
    'limits reject rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --yes --reason "use the batch endpoint" --json',
  ],
  flags: note,
  async run(shell, { request, note }) {
    const reason = requireReason(shell, 'limits reject')
    if (shell.planned(`reject ${request}`)) return
    shell.confirm(`Reject ${request}?`)
    const one = (await shell.connect()).ops().limits({ ref: encodeURIComponent(request) })
    shell.print.item(expectData(await one.post({ decision: 'reject', reason: note ?? reason })), requestColumns)
  },
})

export const limitCommands = [showLimits, listRequests, getRequest, approveRequest, rejectRequest]

const tierColumns = [
  column('id', 'TIER'),
  ...(['rpm', 'tpm', 'text', 'stealth', 'image', 'research', 'video'] as const).map((limit) =>
    column(limit, limit.toUpperCase(), { kind: 'number' }),
  ),
  column('changed', 'NOT-THE-DEFAULT', { kind: 'list' }),
]

const tierCommand = commandsOf('tiers', { apis: ['operator'] })

const listTiers = tierCommand('list', {
  summary: 'Show the limits of each tier',
  about:
    'Shows requests, tokens, and the requests of each group of modes. NOT-THE-DEFAULT names the limits that SVC_TIERS changes.',
  examples: ['tiers list', 'tiers list --json'],
  columns: tierColumns,
  exits: [],
  async run(shell) {
    const { tiers } = expectData(await (await shell.connect()).ops().tiers.get())
    shell.print.list(tiers, tierColumns, 'No tiers.')
  },
})

const setTier = tierCommand('set', {
  summary: 'Move a key to another tier of rate limits',
  about: "Takes effect with the key's next request. If the limits rise, the owner is notified (rate_limit.upgraded).",
  examples: ['tiers set ci pro --reason "contract signed"', 'tiers set 3f9a01 free --reason "trial is over" --json'],
  impact: 'write',
  columns: keyColumns,
  args: { ...keyArgument, tier: argument(`one of ${TIERS.join(', ')}`) },
  async run(shell, { key, tier: word }) {
    const tier = TIERS.find((one) => one === word)
    if (!tier) throw usageFailure(`TIER is "${word}"; it must be one of ${TIERS.join(', ')}.`)
    requireReason(shell, 'tiers set')
    const before = await findKey((await apiOf(shell)).api, key)
    if (shell.planned(`move key "${before.name}" from ${before.tier} to ${tier}`)) return
    shell.print.item(
      expectData(await (await shell.connect()).ops().tiers({ ref: before.id }).put({ tier })),
      keyColumns,
    )
    shell.note(`undo: svc-admin tiers set ${before.id.slice(0, 8)} ${before.tier} --reason …`)
  },
})

export const tierCommands = [listTiers, setTier]
