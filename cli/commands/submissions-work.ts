import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column } from '../output/columns'
import { argument, flag } from '../words'
import { checkColumns, checkRows } from './skills-columns'

const ID = '2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11'
const args = { submission: argument('id of the submission') }
const common = { apis: ['operator'], args } as const

const checkSubmission = defineCommand({
  ...common,
  path: 'submissions checks',
  summary: 'Show the findings of each check of a submission',
  about: 'Shows the results from the day it was submitted. With --rerun this server runs the checks again.',
  examples: [`submissions checks ${ID}`, `submissions checks ${ID} --rerun --json`],
  impact: 'read',
  exits: [3],
  columns: checkColumns,
  flags: { rerun: flag('run the checks again') },
  async run(shell, { submission, rerun }) {
    const connection = await shell.connect()
    const one = connection.ops().submissions({ ref: encodeURIComponent(submission) })
    const found = expectData(await one.checks.get({ query: rerun ? { rerun } : {} }))
    shell.print.list(checkRows(found), checkColumns, 'Nothing was checked.')
  },
})

const claimed = [
  column('id', 'ID'),
  column('slug', 'SKILL'),
  column('status', 'STATUS'),
  column('claimedBy', 'CLAIMED BY'),
  column('claimedUntil', 'UNTIL', { kind: 'time' }),
]
const claiming = { ...common, impact: 'write', exits: [3, 4, 5, 7, 10], columns: claimed } as const

const claimSubmission = defineCommand({
  ...claiming,
  path: 'submissions claim',
  summary: 'Claim a submission for half an hour, so other reviewers leave it to you',
  about: 'Other reviewers see the claim in submissions list and get. They can still decide. To renew it, claim again.',
  examples: [`submissions claim ${ID}`, `submissions claim ${ID} --json`],
  async run(shell, { submission }) {
    if (shell.planned(`claim ${submission}`)) return
    const connection = await shell.connect()
    const one = connection.ops().submissions({ ref: encodeURIComponent(submission) })
    shell.print.item(expectData(await one.claim.post()), claimed)
  },
})

const unclaimSubmission = defineCommand({
  ...claiming,
  path: 'submissions unclaim',
  summary: 'Give up a submission you claimed',
  about: 'You can give up only your own claim. Other claims expire after half an hour.',
  examples: [`submissions unclaim ${ID}`, `submissions unclaim ${ID} --json`],
  async run(shell, { submission }) {
    if (shell.planned(`unclaim ${submission}`)) return
    const connection = await shell.connect()
    const one = connection.ops().submissions({ ref: encodeURIComponent(submission) })
    shell.print.item(expectData(await one.claim.delete()), claimed)
  },
})

const counted = [
  column('tier', 'TIER'),
  column('waiting', 'WAITING', { kind: 'number' }),
  column('oldest_waiting_s', 'OLDEST-S', { kind: 'number' }),
  column('approved', 'APPROVED', { kind: 'number' }),
  column('auto_approved', 'AUTO', { kind: 'number' }),
  column('rejected', 'REJECTED', { kind: 'number' }),
  column('suspended', 'SUSPENDED', { kind: 'number' }),
  column('withdrawn', 'WITHDRAWN', { kind: 'number' }),
  column('decided_in_s', 'DECIDED-IN-S', { kind: 'number' }),
]

const submissionStats = defineCommand({
  path: 'submissions stats',
  summary: 'Count pending and decided submissions by tier',
  about: 'Shows how long the oldest submission has waited, and how long people took on average, both in seconds.',
  examples: ['submissions stats', 'submissions stats --json'],
  apis: ['operator'],
  impact: 'read',
  columns: counted,
  watchable: true,
  async run(shell) {
    const connection = await shell.connect()
    shell.print.list(expectData(await connection.ops().submissions.stats.get()).tiers, counted, 'Nothing yet.')
  },
})

export const submissionWorkCommands = [checkSubmission, claimSubmission, unclaimSubmission, submissionStats]
