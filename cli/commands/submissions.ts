import { clean } from '../../src/kernel/text'
import { REASON_CODES, REVIEW_TIERS, SUBMISSION_STATUSES } from '../../src/skills/schema'
import { defined } from '../api'
import { commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { column, columnsOf } from '../output/columns'
import { type PageQuery, pageFlags, printPages } from '../pages'
import { requireReason } from '../shell'
import { argument, choice, flag, text } from '../words'
import { checkColumns, checkRows } from './skills'

const columns = columnsOf`
  id ID, slug SKILL, manifestVersion VERSION, reviewTier TIER, status STATUS, visibility FOR,
  autoApproved AUTO flag wide, reason REASON wide, reasonCode CODE wide, claimedBy CLAIMED BY,
  claimedUntil UNTIL time wide, createdAt SUBMITTED time, updatedAt MOVED time wide`
const wholeColumns = [
  ...columns,
  ...columnsOf`name NAME, live_version LIVE, tier_reasons WHY THIS TIER`,
  ...['schema', 'injection_scan', 'tool_names', 'permissions', 'slug_unique', 'version'].map((check) =>
    column(`review.checks.${check}`, check.toUpperCase().replace('_', ' ')),
  ),
]

const ID = '2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11'
const args = { submission: argument('id of the submission') }

const command = commandsOf('submissions', { apis: ['operator'], columns })

const listSubmissions = command('list', {
  summary: 'List submitted skills, newest first',
  about: 'Shows those that wait for a reviewer. --status chooses another state, and --all-states shows all.',
  examples: ['submissions list', 'submissions list --tier security --json'],
  watchable: true,
  flags: {
    status: choice(SUBMISSION_STATUSES, 'only submissions in this state'),
    tier: choice(REVIEW_TIERS, 'only submissions of this tier'),
    allStates: flag('include decided ones'),
    mine: flag('only submissions you have claimed'),
    ...pageFlags,
  },
  exits: [],
  async run(shell, { status, tier, allStates, mine, ...paging }) {
    const state = status ?? (allStates ? undefined : ('pending_review' as const))
    const page = async (input: PageQuery) => {
      const query = defined({ ...input, status: state, tier, mine: mine || undefined })
      const found = expectData(await (await shell.connect()).ops().submissions.get({ query }))
      return { items: found.submissions, next: found.next_cursor }
    }
    await printPages(shell, paging, { page, columns, empty: 'Nothing to review.' })
  },
})

const getSubmission = command('get', {
  summary: 'Show one submission: its checks, its tier and what is live',
  about: 'Shows the result of every check. --json adds each finding with its line, and the manifest.',
  examples: [`submissions get ${ID}`, `submissions get ${ID} --json`],
  columns: wholeColumns,
  args,
  async run(shell, { submission }) {
    const one = (await shell.connect()).ops().submissions({ ref: encodeURIComponent(submission) })
    shell.print.item(expectData(await one.get()), wholeColumns)
  },
})

const deciding = {
  impact: 'write' as const,
  danger: 'moderate' as const,
  args,
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
  return command(decision, {
    ...deciding,
    ...words,
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
      if (decision === 'reject' && !code) throw usageFailure('submissions reject needs --code.', CODES)
      if (shell.planned(`${decision} ${submission}`)) return
      shell.confirm(`${decision[0]!.toUpperCase()}${decision.slice(1)} ${submission}?`)
      const one = (await shell.connect()).ops().submissions({ ref: encodeURIComponent(submission) })
      const read = iReadTheDiff ? { read_diff: iReadTheDiff } : {}
      shell.print.item(
        expectData(await one.post({ decision, reason: note ?? reason, ...read, ...(code ? { code } : {}) })),
        columns,
      )
    },
  })
}

const diffColumns = [column('path', 'MEMBER'), column('sign', ' '), ...columnsOf`number LINE number, mark !, text TEXT`]

const diffSubmission = command('diff', {
  summary: 'Show what a submission changes against the live version',
  about:
    'Compares every member that differs, line by line; ! marks phrases to check twice. The last line is the sha that you need to approve tier security.',
  examples: [
    'submissions diff 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11',
    'submissions diff 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11 --json',
  ],
  columns: diffColumns,
  args,
  flags: {
    tool: text('NAME', 'only the changes of this tool'),
    unified: flag('as text, one file per member, with - and + at the start of lines'),
  },
  async run(shell, { submission, tool, unified }) {
    const one = (await shell.connect()).ops().submissions({ ref: encodeURIComponent(submission) })
    const { parts: every, sha, added, removed } = expectData(await one.diff.get())
    const parts = tool === undefined ? every : every.filter(({ path }) => path === `tools.${tool}`)
    if (unified) return shell.io.out(`${[...parts.flatMap(asText), `sha ${sha}`].join('\n')}`)
    const rows = parts.flatMap(({ path, lines }) =>
      lines.map(({ sign, number, text, suspicious }) => ({ path, sign, number, mark: suspicious ? '!' : '', text })),
    )
    const end = { path: 'sha', sign: '', number: rows.length, mark: '', text: sha }
    shell.print.list([...rows, end], diffColumns, `Nothing differs (+${added} -${removed}).`)
  },
})

type Part = { path: string; lines: readonly { sign: string; text: string }[] }

const asText = ({ path, lines }: Part): string[] => [
  `--- live/${clean(path)}`,
  `+++ submitted/${clean(path)}`,
  ...lines.map(({ sign, text: line }) => `${sign}${clean(line)}`),
]

const common = { apis: ['operator'], args } as const

const checkSubmission = command('checks', {
  ...common,
  summary: 'Show the findings of each check of a submission',
  about: 'Shows the results from the day it was submitted. With --rerun this server runs the checks again.',
  examples: [`submissions checks ${ID}`, `submissions checks ${ID} --rerun --json`],
  columns: checkColumns,
  flags: { rerun: flag('run the checks again') },
  async run(shell, { submission, rerun }) {
    const one = (await shell.connect()).ops().submissions({ ref: encodeURIComponent(submission) })
    const found = expectData(await one.checks.get({ query: rerun ? { rerun } : {} }))
    shell.print.list(checkRows(found), checkColumns, 'Nothing was checked.')
  },
})

const claimed = columnsOf`id ID, slug SKILL, status STATUS, claimedBy CLAIMED BY, claimedUntil UNTIL time`
const claiming = { ...common, impact: 'write', exits: [3, 4, 5, 7, 10], columns: claimed } as const

const claimSubmission = command('claim', {
  ...claiming,
  summary: 'Claim a submission for half an hour, so other reviewers leave it to you',
  about: 'Other reviewers see the claim in submissions list and get. They can still decide. To renew it, claim again.',
  examples: [`submissions claim ${ID}`, `submissions claim ${ID} --json`],
  async run(shell, { submission }) {
    if (shell.planned(`claim ${submission}`)) return
    const one = (await shell.connect()).ops().submissions({ ref: encodeURIComponent(submission) })
    shell.print.item(expectData(await one.claim.post()), claimed)
  },
})

const unclaimSubmission = command('unclaim', {
  ...claiming,
  summary: 'Give up a submission you claimed',
  about: 'You can give up only your own claim. Other claims expire after half an hour.',
  examples: [`submissions unclaim ${ID}`, `submissions unclaim ${ID} --json`],
  async run(shell, { submission }) {
    if (shell.planned(`unclaim ${submission}`)) return
    const one = (await shell.connect()).ops().submissions({ ref: encodeURIComponent(submission) })
    shell.print.item(expectData(await one.claim.delete()), claimed)
  },
})

const counted = columnsOf`
  tier TIER, waiting WAITING number, oldest_waiting_s OLDEST-S number, approved APPROVED number,
  auto_approved AUTO number, rejected REJECTED number, suspended SUSPENDED number, withdrawn WITHDRAWN number,
  decided_in_s DECIDED-IN-S number`

const submissionStats = command('stats', {
  summary: 'Count pending and decided submissions by tier',
  about: 'Shows how long the oldest submission has waited, and how long people took on average, both in seconds.',
  examples: ['submissions stats', 'submissions stats --json'],
  columns: counted,
  watchable: true,
  exits: [],
  async run(shell) {
    shell.print.list(
      expectData(await (await shell.connect()).ops().submissions.stats.get()).tiers,
      counted,
      'Nothing yet.',
    )
  },
})

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
  diffSubmission,
  checkSubmission,
  claimSubmission,
  unclaimSubmission,
  submissionStats,
]
