import { REVIEW_STATUSES } from '../../src/skills/schema'
import { defineCommand } from '../command'
import { column } from '../output/columns'
import { type PageOrder, pageFlags, printPages } from '../pages'
import { skillsOver } from '../skills-plane'
import { choice, flag, text } from '../words'
import { skillArgument, skillColumns } from './skills-columns'

const reading = {
  planes: ['operator', 'tenant'],
  offline: true,
  impact: 'read',
  danger: 'none',
} as const

const CATEGORIES = ['productivity', 'domain', 'integration', 'automation', 'creative'] as const

const listSkills = defineCommand({
  ...reading,
  path: 'skills list',
  summary: 'List skills',
  about:
    "On the server's machine it lists every skill, newest first, or with --org those of one owner. Over --url it lists the store as the key in use sees it.",
  examples: [
    'skills list',
    'skills list --status suspended --json',
    'skills list --installed --key ci',
    'skills list --org acme --installed',
  ],
  exits: [3, 4, 7],
  columns: skillColumns,
  watchable: true,
  flags: {
    installed: flag('what an owner has installed: that of --key or --org, or over --url of the key in use'),
    key: text('KEY', 'with --installed: for the owner of this key, by id, prefix or name; for operators only'),
    category: choice(CATEGORIES, 'only those of this category'),
    status: choice(REVIEW_STATUSES, 'only those in this state; for operators only'),
    ...pageFlags,
  },
  async run(shell, { installed, key, category, status, ...paging }) {
    const skills = await skillsOver(await shell.connect())
    const wanted = { installed: installed || undefined, key, category, status, owner: shell.globals.org }
    const page = (order: PageOrder) => skills.list({ ...wanted, ...order })
    await printPages(shell, paging, { page, columns: skillColumns, empty: 'No skills.' })
  },
})

const getSkill = defineCommand({
  ...reading,
  path: 'skills get',
  summary: 'Show one skill',
  about: "--json prints everything about it, on the server's machine its manifest too.",
  examples: ['skills get email-drafter', 'skills get email-drafter --json'],
  exits: [3, 4, 7],
  columns: skillColumns,
  args: skillArgument,
  async run(shell, { skill }) {
    shell.print.item(await (await skillsOver(await shell.connect())).get(skill), skillColumns)
  },
})

const versionColumns = [
  column('id', 'ID'),
  column('version', 'VERSION'),
  column('status', 'STATUS'),
  column('changelog', 'CHANGES', { wide: true }),
  column('createdAt', 'MADE', { kind: 'time' }),
]

const listVersions = defineCommand({
  ...reading,
  path: 'skills versions',
  summary: 'List the versions of a skill, newest first',
  about: 'Lists those that are or were in force. Withdrawn ones are listed only for the author and for operators.',
  examples: ['skills versions email-drafter', 'skills versions email-drafter --json'],
  exits: [3, 4, 7],
  columns: versionColumns,
  args: skillArgument,
  async run(shell, { skill }) {
    const found = await (await skillsOver(await shell.connect())).versions(skill)
    shell.print.list(found, versionColumns, 'No version of it was ever in force.')
  },
})

const reviewColumns = [
  column('id', 'ID'),
  column('rating', 'STARS', { kind: 'number' }),
  column('body', 'TEXT'),
  column('authorUserId', 'USER', { wide: true }),
  column('createdAt', 'WRITTEN', { kind: 'time' }),
]

const listReviews = defineCommand({
  ...reading,
  path: 'skills reviews',
  summary: 'List what people think of a skill, newest first',
  about: 'Each person has one review, from one star to five.',
  examples: ['skills reviews email-drafter', 'skills reviews email-drafter --all --json'],
  exits: [3, 4, 7],
  columns: reviewColumns,
  args: skillArgument,
  flags: pageFlags,
  async run(shell, { skill, ...paging }) {
    const skills = await skillsOver(await shell.connect())
    const page = (order: PageOrder) => skills.reviews(skill, order)
    await printPages(shell, paging, { page, columns: reviewColumns, empty: 'Nobody has written about it.' })
  },
})

export const skillReadCommands = [listSkills, getSkill, listVersions, listReviews]
