import { REVIEW_STATUSES } from '../../src/skills/schema'
import { apiOf, assertOperator, defined } from '../api'
import { commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { columnsOf } from '../output/columns'
import { type PageQuery, pageFlags, pageIn, printPages } from '../pages'
import { requireReason, type Shell } from '../shell'
import { argument, choice, flag, text } from '../words'

export const skillColumns = columnsOf`
  id ID, slug SLUG, name NAME, version VERSION, category CATEGORY, reviewStatus STATUS, visibility FOR,
  listed LISTED flag, installCount INSTALLED number, averageRating STARS number wide, owner OWNER wide,
  updatedAt CHANGED time wide`

export const skillArgument = { skill: argument('slug or id of the skill') }
export const checkColumns = columnsOf`check CHECK, result RESULT, path WHERE, line LINE number, message SEEN`

type Checked = {
  checks: Record<string, string>
  findings: readonly { check: string; path: string; line: number | null; message: string }[]
}

/** One row per finding, and one for each check without findings. */
export const checkRows = ({ checks, findings }: Checked) =>
  Object.entries(checks).flatMap(([check, notice]) => {
    const result = notice.split(':')[0]!
    const own = findings.filter((one) => one.check === check)
    if (!own.length) return [{ check, result, path: '', line: null, message: '' }]
    return own.map(({ path, line, message }) => ({ check, result, path, line, message }))
  })

export const KEY_IN_USE = '--key is for operators; here the key in use applies.'

const CATEGORIES = ['productivity', 'domain', 'integration', 'automation', 'creative'] as const

const command = commandsOf('skills', { apis: ['operator', 'tenant'], columns: skillColumns })

const listSkills = command('list', {
  summary: 'List skills',
  about:
    "On the server's machine it lists every skill, newest first, or with --org those of one owner. Over --url it lists the store as the key in use sees it.",
  examples: [
    'skills list',
    'skills list --status suspended --json',
    'skills list --installed --key ci',
    'skills list --org acme --installed',
  ],
  watchable: true,
  flags: {
    installed: flag('skills installed by the owner of --key or --org, or over --url of the key in use'),
    key: text('KEY', 'with --installed: for the owner of this key, by id, prefix or name; for operators only'),
    category: choice(CATEGORIES, 'only skills of this category'),
    status: choice(REVIEW_STATUSES, 'only skills in this state; for operators only'),
    ...pageFlags,
  },
  async run(shell, { installed, key, category, status, ...paging }) {
    const filter = await filterOf(shell, { installed: installed || undefined, key, category, status })
    const page = async (input: PageQuery) => {
      const { api } = await apiOf(shell)
      const found = expectData(await api.skills.get({ query: { ...input, ...filter } as never }))
      return { items: found.skills, next: found.next_cursor }
    }
    await printPages(shell, paging, { page, columns: skillColumns, empty: 'No skills.' })
  },
})

type Filter = { installed: true | undefined; key: string | undefined; category?: string; status?: string }

/** The query for either API. @throws CommandFailed 2 for what only operators may ask, and for what says too little */
async function filterOf(shell: Shell, { installed, key, status, category }: Filter): Promise<object> {
  const { isOperator, ownerFilter } = await apiOf(shell)
  const { org: owner } = shell.globals
  if (!isOperator) {
    assertOperator(isOperator, key !== undefined, KEY_IN_USE)
    assertOperator(isOperator, Boolean(status || owner), '--status and --org are for operators.')
    return defined({ filter: installed ? 'installed' : 'marketplace', category })
  }
  if (installed && owner === undefined && key === undefined)
    throw usageFailure('--installed needs an owner.', 'add --key KEY, or --org NAME')
  if (key !== undefined && !installed) throw usageFailure('--key works only with --installed.', 'add --installed')
  return defined({ installed, key, status, category, ...ownerFilter })
}

const getSkill = command('get', {
  summary: 'Show one skill',
  about: "--json prints everything about it. On the server's machine this includes its manifest.",
  examples: ['skills get email-drafter', 'skills get email-drafter --json'],
  args: skillArgument,
  async run(shell, { skill }) {
    shell.print.item(expectData(await (await skillOver(shell, skill)).one.get()), skillColumns)
  },
})

const versionColumns = columnsOf`
  id ID, version VERSION, status STATUS, changelog CHANGES wide, createdAt MADE time`

const listVersions = command('versions', {
  summary: 'List the versions of a skill, newest first',
  about: 'Lists current and earlier published versions. Only the author and operators see withdrawn ones.',
  examples: ['skills versions email-drafter', 'skills versions email-drafter --json'],
  columns: versionColumns,
  args: skillArgument,
  async run(shell, { skill }) {
    const { versions } = expectData(await (await skillOver(shell, skill)).one.versions.get())
    shell.print.list(versions, versionColumns, 'It has no published version.')
  },
})

const reviewColumns = columnsOf`
  id ID, rating STARS number, body TEXT, authorUserId USER wide, createdAt WRITTEN time`

const listReviews = command('reviews', {
  summary: 'List the reviews of a skill, newest first',
  about: 'Each person has one review, from one star to five.',
  examples: ['skills reviews email-drafter', 'skills reviews email-drafter --all --json'],
  columns: reviewColumns,
  args: skillArgument,
  flags: pageFlags,
  async run(shell, { skill, ...paging }) {
    const { one } = await skillOver(shell, skill)
    const page = (query: PageQuery) => pageIn(one.reviews.get({ query }), 'reviews')
    await printPages(shell, paging, { page, columns: reviewColumns, empty: 'It has no reviews.' })
  },
})

/** One skill, by id or slug. */
async function skillOver(shell: Shell, ref: string) {
  const { api } = await apiOf(shell)
  return { one: api.skills({ ref: encodeURIComponent(ref) }) }
}

export const skillReadCommands = [listSkills, getSkill, listVersions, listReviews]

const done = columnsOf`slug SLUG, installed INSTALLED flag`
const forKey = { key: text('KEY', 'for the owner of this key: id, prefix or name; required for operators') }
const changing = { impact: 'write', args: skillArgument } as const

const installSkill = command('install', {
  ...changing,
  summary: 'Install a skill for the owner of a key',
  about: 'All keys of an owner share the installed skills. If the manifest has an onInstall prompt, it runs once.',
  examples: ['skills install email-drafter --key ci', 'skills install email-drafter --url https://svc.example --json'],
  columns: done,
  flags: forKey,
  async run(shell, { skill, key }) {
    if (shell.planned(`install ${skill}`)) return
    const { install } = await installsOf(shell, skill, key)
    await install()
    shell.print.item({ slug: skill, installed: true }, done)
  },
})

const uninstallSkill = command('uninstall', {
  ...changing,
  summary: 'Uninstall a skill for the owner of a key',
  about: 'From the next request the skill no longer runs for them. Its settings are deleted.',
  examples: ['skills uninstall email-drafter --key ci --yes', 'skills uninstall email-drafter --key ci --yes --json'],
  danger: 'moderate',
  columns: done,
  flags: forKey,
  async run(shell, { skill, key }) {
    if (shell.planned(`uninstall ${skill}`)) return
    shell.confirm(`Uninstall ${skill}? Its settings will be lost.`)
    const { uninstall } = await installsOf(shell, skill, key)
    await uninstall()
    shell.print.item({ slug: skill, installed: false }, done)
  },
})

/** Operators install for the owner of a key, tenants for whoever the key in use is of. @throws CommandFailed 2 */
async function installsOf(shell: Shell, slug: string, key: string | undefined) {
  const { api, isOperator } = await apiOf(shell)
  if (!isOperator) {
    assertOperator(isOperator, key !== undefined, KEY_IN_USE)
    const { skills } = (await (await shell.connect()).tenant()).client
    return {
      install: async () => void expectData(await skills.post({ slug })),
      uninstall: async () => void expectData(await skills.delete({ slug })),
    }
  }
  if (key === undefined)
    throw usageFailure(
      'Skills belong to the owner of a key, and no key was given.',
      'add --key KEY; svc-admin keys list shows them',
    )
  const one = api.keys({ ref: encodeURIComponent(key) }).skills({ slug: encodeURIComponent(slug) })
  return {
    install: async () => void expectData(await one.put()),
    uninstall: async () => void expectData(await one.delete()),
  }
}

const operating = {
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  args: skillArgument,
} as const

const disableSkill = command('disable', {
  ...operating,
  summary: 'Remove a published skill from the store',
  about:
    'People who installed it keep it, but no one else can install it. A new version does not bring it back; skills enable does. With --also-installed it stops for everyone, from the next request.',
  examples: [
    'skills disable bad-skill --yes --reason "spam"',
    'skills disable bad-skill --also-installed --yes --reason "steals data" --json',
  ],
  flags: { alsoInstalled: flag('also stop it for everyone who installed it') },
  async run(shell, { skill, alsoInstalled }) {
    const reason = requireReason(shell, 'skills disable')
    if (shell.planned(`disable ${skill}`)) return
    shell.confirm(`Take ${skill} ${alsoInstalled ? 'down for everyone' : 'out of the store'}?`)
    const one = (await shell.connect()).ops().skills({ ref: encodeURIComponent(skill) })
    shell.print.item(expectData(await one.disable.post({ also_installed: alsoInstalled === true })), skillColumns)
    shell.note(`Disabled ${skill}: ${reason} (undo: svc-admin skills enable ${skill})`)
  },
})

const enableSkill = command('enable', {
  ...operating,
  summary: 'Return a disabled skill to the store',
  about: 'Restores the skill as it was before it was disabled or suspended.',
  examples: ['skills enable good-skill --yes --reason "was a mistake"', 'skills enable x --yes --reason ok --json'],
  async run(shell, { skill }) {
    const reason = requireReason(shell, 'skills enable')
    if (shell.planned(`enable ${skill}`)) return
    shell.confirm(`Put ${skill} back?`)
    const one = (await shell.connect()).ops().skills({ ref: encodeURIComponent(skill) })
    shell.print.item(expectData(await one.enable.post()), skillColumns)
    shell.note(`Enabled ${skill}: ${reason}`)
  },
})

export const skillChangeCommands = [installSkill, uninstallSkill, disableSkill, enableSkill]
