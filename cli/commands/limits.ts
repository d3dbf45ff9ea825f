import { TIERS } from '../../src/kernel/caller'
import type { RateLimits } from '../../src/limits/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column, valueAt } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import { resolveKey } from '../resolve'
import { requireReason } from '../shell'
import { argument, choice, flag, optional, text } from '../words'

/** PEAK is the busiest minute of the last seven days, shown beside the current and the requested limits. */
const requestColumns = [
  column('id', 'ID'),
  column('status', 'STATUS'),
  column('current_tier', 'FROM'),
  column('requested_tier', 'ASKS'),
  column('granted_tier', 'GOT'),
  column('peak.requests', 'PEAK/MIN', { kind: 'number' }),
  column('current_limits.requests', 'NOW/MIN', { kind: 'number' }),
  column('requested_limits.requests', 'ASKS/MIN', { kind: 'number' }),
  column('peak.tokens', 'PEAK-TOKENS', { kind: 'number' }),
  column('requested_limits.tokens', 'ASKS-TOKENS', { kind: 'number', wide: true }),
  column('user_id', 'WHO', { show: ({ user_id }, whole) => String(user_id).slice(0, whole ? 36 : 8) }),
  column('key_id', 'KEY', { wide: true }),
  column('expected_volume', 'VOLUME'),
  column('use_case', 'USE CASE'),
  column('reason', 'REASON', { wide: true }),
  column('created', 'ASKED', { kind: 'time' }),
  column('decided_at', 'DECIDED', { kind: 'time', wide: true }),
]

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

const showLimits = defineCommand({
  path: 'limits show',
  summary: 'Show the limits of a key and what is left of them this minute',
  about:
    "Shows the sliding window of the rate limiter. On the server's machine, or with an operator key, you can name any key. With an API key it shows that key.",
  examples: ['limits show ci', 'limits show ci --watch', 'limits show --url https://svc.example --key-file ci.key'],
  apis: ['operator', 'tenant'],
  offline: false,
  impact: 'read',
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

const listRequests = defineCommand({
  path: 'limits list',
  summary: 'List requests for higher limits, newest first',
  about:
    "Shows requests that wait for a decision; --all-states adds decided ones. PEAK is the key's busiest minute of the last seven days, next to the current and the requested limit.",
  examples: ['limits list', 'limits list --all-states --json'],
  apis: ['operator'],
  impact: 'read',
  columns: requestColumns,
  watchable: true,
  flags: {
    allStates: flag('include decided ones'),
    ...pageFlags,
  },
  async run(shell, { allStates, ...paging }) {
    const connection = await shell.connect()
    const state = allStates ? {} : { status: 'pending' as const }
    const page = async (input: PageQuery) => {
      const found = expectData(await connection.ops().limits.get({ query: { ...input, ...state } }))
      return { items: found.requests, next: found.next_cursor }
    }
    await printPages(shell, paging, { page, columns: requestColumns, empty: 'No requests for higher limits.' })
  },
})

const requestArgument = { request: argument('id of the request: rli_…') }

const getRequest = defineCommand({
  path: 'limits get',
  summary: 'Show one request for higher limits',
  about: 'Shows the requested limit, the reason and the decision.',
  examples: ['limits get rli_8Zk3Qd7VbW1xT5nL0aRfYc2M', 'limits get rli_8Zk3Qd7VbW1xT5nL0aRfYc2M --json'],
  apis: ['operator'],
  impact: 'read',
  exits: [3],
  columns: requestColumns,
  args: requestArgument,
  async run(shell, { request }) {
    const connection = await shell.connect()
    const one = connection.ops().limits({ ref: encodeURIComponent(request) })
    shell.print.item(expectData(await one.get()), requestColumns)
  },
})

const note = { note: text('TEXT', 'message to the requester; the reason by default') }

/** The common part of approve and reject, which differ in wording and flags. */
const deciding = (decision: 'approve' | 'reject') => ({
  apis: ['operator'] as const,
  impact: 'write' as const,
  danger: 'moderate' as const,
  exits: [3, 5],
  columns: requestColumns,
  args: requestArgument,
  decision,
})

const approveRequest = defineCommand({
  ...deciding('approve'),
  path: 'limits approve',
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
    const connection = await shell.connect()
    const one = connection.ops().limits({ ref: encodeURIComponent(request) })
    const body = { decision: 'approve' as const, reason: note ?? reason, ...(tier ? { tier } : {}) }
    shell.print.item(expectData(await one.post(body)), requestColumns)
  },
})

const rejectRequest = defineCommand({
  ...deciding('reject'),
  path: 'limits reject',
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
    const connection = await shell.connect()
    const one = connection.ops().limits({ ref: encodeURIComponent(request) })
    shell.print.item(expectData(await one.post({ decision: 'reject', reason: note ?? reason })), requestColumns)
  },
})

export const limitCommands = [showLimits, listRequests, getRequest, approveRequest, rejectRequest]
