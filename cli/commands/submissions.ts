import { clean } from '../../src/kernel/text'
import { REASON_CODES, REVIEW_TIERS, SUBMISSION_STATUSES } from '../../src/skills/schema'
import { column, columnsOf, commandsOf, defined } from '../command'
import { expectData, usageFailure } from '../failure'
import { pageIn } from '../pages'
import { operatedArgument } from '../resource'
import { choice, flag, text } from '../words'
import { checkColumns, checkRows } from './skills'

const columns = columnsOf`
  id, slug SKILL, manifestVersion VERSION, reviewTier TIER, status STATUS, visibility FOR,
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
const args = {
  submission: operatedArgument('submission', undefined, (ops, query) =>
    pageIn(ops.submissions.get({ query }), 'submissions'),
  ),
}
const command = commandsOf('submissions', { apis: ['operator'], columns, args })

type Notice = { submission: string; note?: string; iReadTheDiff?: string; code?: (typeof REASON_CODES)[number] }

/** The common part of the four decisions. `approve` may also name the reviewed diff. */
const decide = (decision: 'approve' | 'reject' | 'suspend' | 'reinstate', summary: string, about: string) => {
  const kind = decision === 'reject' ? ' --code quality' : ''
  return command`${decision} SUBMISSION (moderate, reason): ${summary}
  ${about}
  $ submissions ${decision} ${ID}${kind} --yes --reason "read and tried"`({
    flags: {
      note: text('TEXT', 'message to the author; the reason by default'),
      ...(decision === 'approve'
        ? { iReadTheDiff: text('SHA', 'the sha that submissions diff prints last; required for tier security') }
        : {}),
      ...(decision === 'reject' ? { code: choice(REASON_CODES, 'kind of rejection; required') } : {}),
    },
    action(input) {
      const { submission, code } = input as Notice
      if (decision !== 'reject' || code) return `${decision} ${submission}`
      throw usageFailure('submissions reject needs --code.', `add --code ${REASON_CODES.join('|')}`)
    },
    request({ ops, shell }, input) {
      const { submission, note, iReadTheDiff, code } = input as Notice
      const reason = note ?? shell.globals.reason!
      return ops
        .submissions({ ref: submission })
        .post(defined({ decision, reason, read_diff: iReadTheDiff || undefined, code }))
    },
  })
}

const diffColumns = [column('path', 'MEMBER'), column('sign', ' '), ...columnsOf`number LINE number, mark !, text TEXT`]

const claimed = columnsOf`id ID, slug SKILL, status STATUS, claimedBy CLAIMED BY, claimedUntil UNTIL time`
const claiming = { exits: [3, 4, 5, 7, 10], columns: claimed, args } as const

export const submissionCommands = [
  command`list (exits, pages submissions): List submitted skills, newest first
  Shows those that wait for a reviewer. --status chooses another state, and --all-states shows all.
  $ submissions list
  $ submissions list --tier security --json`({
    flags: {
      status: choice(SUBMISSION_STATUSES, 'only submissions in this state'),
      tier: choice(REVIEW_TIERS, 'only submissions of this tier'),
      allStates: flag('include decided ones'),
      mine: flag('only submissions you have claimed'),
    },
    request({ ops, page }, { status, tier, allStates, mine }) {
      const state = status ?? (allStates ? undefined : ('pending_review' as const))
      return ops.submissions.get({ query: defined({ ...page, status: state, tier, mine: mine || undefined }) })
    },
    empty: 'Nothing to review.',
  }),
  command`get SUBMISSION: Show one submission: its checks, its tier and what is live
  Shows the result of every check. --json adds each finding with its line, and the manifest.
  $ submissions get ${ID}`({
    columns: wholeColumns,
    request: ({ ops }, { submission }) => ops.submissions({ ref: submission }).get(),
  }),
  decide(
    'approve',
    'Approve a submitted version',
    'Everyone who uses the skill gets this version from the next request. Tier security needs --i-read-the-diff with the sha that submissions diff prints.',
  ),
  decide(
    'reject',
    'Reject a submitted version',
    'The author sees the note and can submit a higher version. The published version stays.',
  ),
  decide(
    'suspend',
    'Suspend a published skill for everyone',
    'From the next request it is hidden from the store and does not run, until it is reinstated.',
  ),
  decide('reinstate', 'Reinstate a suspended skill', 'Restores the skill as it was before the suspension.'),
  command`diff SUBMISSION: Show what a submission changes against the live version
  Compares every member that differs, line by line; ! marks phrases to check twice. The last line is the sha that you need to approve tier security.
  $ submissions diff 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11`({
    columns: diffColumns,
    flags: {
      tool: text('NAME', 'only the changes of this tool'),
      unified: flag('as text, one file per member, with - and + at the start of lines'),
    },
    async run(shell, { submission, tool, unified }) {
      const {
        parts: every,
        sha,
        added,
        removed,
      } = expectData(await (await shell.connect()).ops().submissions({ ref: submission }).diff.get())
      const parts = tool === undefined ? every : every.filter(({ path }) => path === `tools.${tool}`)
      if (unified) return shell.io.out(`${[...parts.flatMap(asText), `sha ${sha}`].join('\n')}`)
      const rows = parts.flatMap(({ path, lines }) =>
        lines.map(({ sign, number, text, suspicious }) => ({ path, sign, number, mark: suspicious ? '!' : '', text })),
      )
      const end = { path: 'sha', sign: '', number: rows.length, mark: '', text: sha }
      shell.print.list([...rows, end], diffColumns, `Nothing differs (+${added} -${removed}).`)
    },
  }),
  command`checks SUBMISSION: Show the findings of each check of a submission
  Shows the results from the day it was submitted. With --rerun this server runs the checks again.
  $ submissions checks ${ID}
  $ submissions checks ${ID} --rerun --json`({
    columns: checkColumns,
    flags: { rerun: flag('run the checks again') },
    request: ({ ops }, { submission, rerun }) =>
      ops.submissions({ ref: submission }).checks.get({ query: rerun ? { rerun } : {} }),
    shown: checkRows,
    empty: 'Nothing was checked.',
  }),
  command`claim: Claim a submission for half an hour, so other reviewers leave it to you
  Other reviewers see the claim in submissions list and get. They can still decide. To renew it, claim again.
  $ submissions claim ${ID}`({
    ...claiming,
    action: ({ submission }) => `claim ${submission}`,
    request: ({ ops }, { submission }) => ops.submissions({ ref: submission }).claim.post(),
  }),
  command`unclaim: Give up a submission you claimed
  You can give up only your own claim. Other claims expire after half an hour.
  $ submissions unclaim ${ID}`({
    ...claiming,
    action: ({ submission }) => `unclaim ${submission}`,
    request: ({ ops }, { submission }) => ops.submissions({ ref: submission }).claim.delete(),
  }),
  command`stats (exits, shows tiers): Count pending and decided submissions by tier
  Shows how long the oldest submission has waited, and how long people took on average, both in seconds.
  $ submissions stats`({
    columns: columnsOf`
      tier TIER, waiting WAITING number, oldest_waiting_s OLDEST-S number, approved APPROVED number,
      auto_approved AUTO number, rejected REJECTED number, suspended SUSPENDED number, withdrawn WITHDRAWN number,
      decided_in_s DECIDED-IN-S number`,
    request: ({ ops }) => ops.submissions.stats.get(),
    empty: 'Nothing yet.',
  }),
]

const asText = ({ path, lines }: { path: string; lines: readonly { sign: string; text: string }[] }): string[] => [
  `--- live/${clean(path)}`,
  `+++ submitted/${clean(path)}`,
  ...lines.map(({ sign, text: line }) => `${sign}${clean(line)}`),
]
