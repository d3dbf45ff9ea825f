import { REASON_CODES, REVIEW_TIERS, SUBMISSION_STATUSES } from '../../src/skills/schema'
import { defineCommand } from '../command'
import { expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import { requireReason } from '../shell'
import { argument, choice, flag, text } from '../words'

const columns = [
  column('id', 'ID'),
  column('slug', 'SKILL'),
  column('manifestVersion', 'VERSION'),
  column('reviewTier', 'TIER'),
  column('status', 'STATUS'),
  column('visibility', 'FOR'),
  column('autoApproved', 'AUTO', { kind: 'flag', wide: true }),
  column('reason', 'REASON', { wide: true }),
  column('reasonCode', 'CODE', { wide: true }),
  column('claimedBy', 'CLAIMED BY'),
  column('claimedUntil', 'UNTIL', { kind: 'time', wide: true }),
  column('createdAt', 'SUBMITTED', { kind: 'time' }),
  column('updatedAt', 'MOVED', { kind: 'time', wide: true }),
]
const wholeColumns = [
  ...columns,
  column('name', 'NAME'),
  column('live_version', 'LIVE'),
  column('tier_reasons', 'WHY THIS TIER'),
  ...['schema', 'injection_scan', 'tool_names', 'permissions', 'slug_unique', 'version'].map((check) =>
    column(`review.checks.${check}`, check.toUpperCase().replace('_', ' ')),
  ),
]

const ID = '2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11'
const submissionArgument = { submission: argument('id of the submission') }

const listSubmissions = defineCommand({
  path: 'submissions list',
  summary: 'List submitted skills, newest first',
  about: 'Shows those that wait for a reviewer. --status chooses another state, and --all-states shows all.',
  examples: ['submissions list', 'submissions list --tier security --json'],
  apis: ['operator'],
  impact: 'read',
  columns,
  watchable: true,
  flags: {
    status: choice(SUBMISSION_STATUSES, 'only submissions in this state'),
    tier: choice(REVIEW_TIERS, 'only submissions of this tier'),
    allStates: flag('include decided ones'),
    mine: flag('only submissions you have claimed'),
    ...pageFlags,
  },
  async run(shell, { status, tier, allStates, mine, ...paging }) {
    const connection = await shell.connect()
    const state = status ?? (allStates ? undefined : ('pending_review' as const))
    const page = async (input: PageQuery) => {
      const query = {
        ...input,
        ...(state ? { status: state } : {}),
        ...(tier ? { tier } : {}),
        ...(mine ? { mine } : {}),
      }
      const found = expectData(await connection.ops().submissions.get({ query }))
      return { items: found.submissions, next: found.next_cursor }
    }
    await printPages(shell, paging, { page, columns, empty: 'Nothing to review.' })
  },
})

const getSubmission = defineCommand({
  path: 'submissions get',
  summary: 'Show one submission: its checks, its tier and what is live',
  about: 'Shows the result of every check. --json adds each finding with its line, and the manifest.',
  examples: [`submissions get ${ID}`, `submissions get ${ID} --json`],
  apis: ['operator'],
  impact: 'read',
  exits: [3],
  columns: wholeColumns,
  args: submissionArgument,
  async run(shell, { submission }) {
    const connection = await shell.connect()
    const one = connection.ops().submissions({ ref: encodeURIComponent(submission) })
    shell.print.item(expectData(await one.get()), wholeColumns)
  },
})

const deciding = {
  apis: ['operator'] as const,
  impact: 'write' as const,
  danger: 'moderate' as const,
  exits: [3, 5],
  columns,
  args: submissionArgument,
}

type Notice = {
  submission: string
  note?: string
  iReadTheDiff?: string
  code?: (typeof REASON_CODES)[number]
}
const CODES = `add --code ${REASON_CODES.join('|')}`

/** The common part of the four decisions; `approve` may also name the reviewed diff. */
const decide = (
  decision: 'approve' | 'reject' | 'suspend' | 'reinstate',
  words: { summary: string; about: string },
) => {
  const kind = decision === 'reject' ? ' --code quality' : ''
  return defineCommand({
    ...deciding,
    ...words,
    path: `submissions ${decision}`,
    examples: [
      `submissions ${decision} ${ID}${kind} --yes --reason "read and tried"`,
      `submissions ${decision} ${ID}${kind} --yes --reason "read and tried" --json`,
    ],
    flags: {
      note: text('TEXT', 'message to the author; the reason by default'),
      ...(decision === 'approve'
        ? { iReadTheDiff: text('SHA', 'the sha that submissions diff prints last; required for tier security') }
        : {}),
      ...(decision === 'reject' ? { code: choice(REASON_CODES, 'kind of rejection; required') } : {}),
    },
    async run(shell, input) {
      const { submission, note, iReadTheDiff, code } = input as Notice
      const reason = requireReason(shell, `submissions ${decision}`)
      if (decision === 'reject' && !code) throw usageFailure('submissions reject needs --kind.', CODES)
      if (shell.planned(`${decision} ${submission}`)) return
      shell.confirm(`${decision[0]!.toUpperCase()}${decision.slice(1)} ${submission}?`)
      const connection = await shell.connect()
      const one = connection.ops().submissions({ ref: encodeURIComponent(submission) })
      const read = iReadTheDiff ? { read_diff: iReadTheDiff } : {}
      shell.print.item(
        expectData(await one.post({ decision, reason: note ?? reason, ...read, ...(code ? { code } : {}) })),
        columns,
      )
    },
  })
}

export const submissionCommands = [
  listSubmissions,
  getSubmission,
  decide('approve', {
    summary: 'Approve a submitted version',
    about:
      'Everyone who uses the skill gets this version from the next request. Tier security needs --i-read-the-diff with the sha that submissions diff prints.',
  }),
  decide('reject', {
    summary: 'Reject a submitted version',
    about: 'The author sees the note and can submit a higher version. The published version stays.',
  }),
  decide('suspend', {
    summary: 'Suspend a published skill for everyone',
    about: 'From the next request it is hidden from the store and does not run, until it is reinstated.',
  }),
  decide('reinstate', {
    summary: 'Reinstate a suspended skill',
    about: 'Restores the skill as it was before the suspension.',
  }),
]
