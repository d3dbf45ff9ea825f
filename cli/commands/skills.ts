import { REVIEW_STATUSES } from '../../src/skills/schema'
import { apiOf, assertOperator, defined } from '../api'
import { type At, commandsOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { columnsOf } from '../output/columns'
import type { Shell } from '../shell'
import { argument, choice, flag, text } from '../words'

export const skillColumns = columnsOf`
  id ID, slug SLUG, name NAME, version VERSION, category CATEGORY, reviewStatus STATUS, visibility FOR,
  listed LISTED flag, installCount INSTALLED number, averageRating STARS number wide, owner OWNER wide,
  updatedAt CHANGED time wide`

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

const args = { skill: argument('slug or id of the skill') }

type Filter = { installed: true | undefined; key: string | undefined; category?: string; status?: string }

/** The query for either API. @throws CommandFailed 2 for operator-only filters, and for incomplete ones */
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

const versionColumns = columnsOf`
  id ID, version VERSION, status STATUS, changelog CHANGES wide, createdAt MADE time`

const reviewColumns = columnsOf`
  id ID, rating STARS number, body TEXT, authorUserId USER wide, createdAt WRITTEN time`

const skillIn = ({ api }: At, skill: string) => api.skills({ ref: encodeURIComponent(skill) })

export const skillReadCommands = [
  command`list: List skills
  On the server's machine it lists every skill, newest first, or with --org those of one owner. Over --url it lists the store as the key in use sees it.
  $ skills list
  $ skills list --status suspended --json
  $ skills list --installed --key ci
  $ skills list --org acme --installed`({
    flags: {
      installed: flag('skills installed by the owner of --key or --org, or over --url of the key in use'),
      key: text('KEY', 'with --installed: for the owner of this key, by id, prefix or name; for operators only'),
      category: choice(CATEGORIES, 'only skills of this category'),
      status: choice(REVIEW_STATUSES, 'only skills in this state; for operators only'),
    },
    find: async (shell, { installed, ...rest }) => ({
      filter: await filterOf(shell, { installed: installed || undefined, ...rest }),
    }),
    paged: 'skills',
    request: ({ api, page }, { filter }) => api.skills.get({ query: { ...page, ...filter } as never }),
    empty: 'No skills.',
  }),
  command`get: Show one skill
  --json prints everything about it. On the server's machine this includes its manifest.
  $ skills get email-drafter`({ args, request: (at, { skill }) => skillIn(at, skill).get() }),
  command`versions: List the versions of a skill, newest first
  Lists current and earlier published versions. Only the author and operators see withdrawn ones.
  $ skills versions email-drafter`({
    columns: versionColumns,
    args,
    request: (at, { skill }) => skillIn(at, skill).versions.get(),
    shown: ({ versions }) => versions,
    empty: 'It has no published version.',
  }),
  command`reviews: List the reviews of a skill, newest first
  Each person has one review, from one star to five.
  $ skills reviews email-drafter
  $ skills reviews email-drafter --all --json`({
    columns: reviewColumns,
    args,
    paged: 'reviews',
    request: (at, { skill }) => skillIn(at, skill).reviews.get({ query: at.page }),
    empty: 'It has no reviews.',
  }),
]

const done = columnsOf`slug SLUG, installed INSTALLED flag`
const forKey = { key: text('KEY', 'for the owner of this key: id, prefix or name; required for operators') }

const operating = { apis: ['operator'], danger: 'moderate', args, reason: true } as const

export const skillChangeCommands = [
  command`install: Install a skill for the owner of a key
  All keys of an owner share the installed skills. If the manifest has an onInstall prompt, it runs once.
  $ skills install email-drafter --key ci
  $ skills install email-drafter --url https://svc.example --json`({
    args,
    columns: done,
    flags: forKey,
    action: ({ skill }) => `install ${skill}`,
    async answer({ shell }, { skill, key }) {
      await (await installsOf(shell, skill, key)).install()
      return { slug: skill, installed: true }
    },
  }),
  command`uninstall: Uninstall a skill for the owner of a key
  From the next request the skill no longer runs for them. Its settings are deleted.
  $ skills uninstall email-drafter --key ci --yes`({
    args,
    danger: 'moderate',
    columns: done,
    flags: forKey,
    action: ({ skill }) => `uninstall ${skill}`,
    question: ' Its settings will be lost.',
    async answer({ shell }, { skill, key }) {
      await (await installsOf(shell, skill, key)).uninstall()
      return { slug: skill, installed: false }
    },
  }),
  command`disable: Remove a published skill from the store
  People who installed it keep it, but no one else can install it. A new version does not bring it back; skills enable does. With --also-installed it stops for everyone, from the next request.
  $ skills disable bad-skill --yes --reason "spam"
  $ skills disable bad-skill --also-installed --yes --reason "steals data" --json`({
    ...operating,
    flags: { alsoInstalled: flag('also stop it for everyone who installed it') },
    action: ({ skill }) => `disable ${skill}`,
    question: ({ skill, alsoInstalled }) =>
      `Take ${skill} ${alsoInstalled ? 'down for everyone' : 'out of the store'}?`,
    request: ({ ops }, { skill, alsoInstalled }) =>
      ops.skills({ ref: encodeURIComponent(skill) }).disable.post({ also_installed: alsoInstalled === true }),
    note: (_, { skill }, { globals }) =>
      `Disabled ${skill}: ${globals.reason} (undo: svc-admin skills enable ${skill})`,
  }),
  command`enable: Return a disabled skill to the store
  Restores the skill as it was before it was disabled or suspended.
  $ skills enable good-skill --yes --reason "was a mistake"
  $ skills enable x --yes --reason ok --json`({
    ...operating,
    action: ({ skill }) => `enable ${skill}`,
    question: ({ skill }) => `Put ${skill} back?`,
    request: ({ ops }, { skill }) => ops.skills({ ref: encodeURIComponent(skill) }).enable.post(),
    note: (_, { skill }, { globals }) => `Enabled ${skill}: ${globals.reason}`,
  }),
]

/** Operators install for the owner of a key, tenants for the owner of the key in use. @throws CommandFailed 2 */
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
