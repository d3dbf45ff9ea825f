import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { REVIEW_STATUSES } from '../../src/skills/schema'
import { type At, apiOf, assertOperator, columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { readTextFile, readValueFile, valueFilesIn } from '../files'
import { everyEntry, type PageQuery, pageIn } from '../pages'
import { idAmong } from '../resource'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { argument, choice, flag, needed, optional, text } from '../words'

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
  Object.entries(checks).flatMap(([check, outcome]) => {
    const result = outcome.split(':')[0]!
    const own = findings.filter((one) => one.check === check)
    if (!own.length) return [{ check, result, path: '', line: null, message: '' }]
    return own.map(({ path, line, message }) => ({ check, result, path, line, message }))
  })

export const KEY_IN_USE = '--key is for operators; here the key in use applies.'

const CATEGORIES = ['productivity', 'domain', 'integration', 'automation', 'creative'] as const
/** Only a word of the characters of an id is looked up. Any other is a slug. */
const idFor = idAmong(async (shell) => {
  const { api, isOperator } = await apiOf(shell)
  const query = isOperator ? {} : { filter: 'marketplace' as const }
  return (await everyEntry((page) => pageIn(api.skills.get({ query: { ...page, ...query } }), 'skills'))).map(
    ({ id }) => ({ id }),
  )
}, /^(?![0-9a-f][0-9a-f-]{5,34}$)/)
const args = { skill: { ...argument('slug or id of the skill, or the start of its id'), idFor } }
const command = commandsOf('skills', { apis: ['operator', 'tenant'], columns: skillColumns, args })

type Filter = { installed: boolean | undefined } & Record<'key' | 'category' | 'status', string | undefined>

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
  return defined({ installed: installed || undefined, key, status, category, ...ownerFilter })
}

const installedColumns = columnsOf`slug SLUG, installed INSTALLED flag`
const forKey = { key: text('KEY', 'for the owner of this key: id, prefix or name; required for operators') }
const operating = { apis: ['operator'], danger: 'moderate', args, reason: true } as const

/** Operators install for the owner of a key, tenants for the owner of the key in use. @throws CommandFailed 2 */
async function setInstalled({ api, isOperator, shell }: At, slug: string, key: string | undefined, installed: boolean) {
  assertOperator(isOperator, key !== undefined, KEY_IN_USE)
  if (!isOperator) {
    const { skills } = (await (await shell.connect()).tenant()).client
    expectData<object>(installed ? await skills.post({ slug }) : await skills.delete({ slug }))
  } else {
    const fix = 'add --key KEY; svc-admin keys list shows them'
    if (key === undefined) throw usageFailure('Skills belong to the owner of a key, and no key was given.', fix)
    const one = api.keys({ ref: key }).skills({ slug })
    expectData<unknown>(installed ? await one.put() : await one.delete())
  }
  return { slug, installed }
}

/** A manifest as its author writes it, with the text of its knowledge files. */
type WrittenManifest = Record<string, unknown>
/** Matches names inside the folder. Other files are not read, and the review rejects them. */
const INSIDE = /^(?!\/)(?!.*(^|\/)\.\.(\/|$))[^\\]+$/
const FILE = argument('manifest as JSON, JSONC, YAML or TOML; - reads stdin')
const ABOUT_FILES =
  'Files named in "knowledge" are read from the folder of the manifest. svc-admin help manifest prints a manifest to start from.'

export const skillCommands = [
  command`list (pages skills): List skills
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
    find: async (shell, given) => ({ filter: await filterOf(shell, given) }),
    request: ({ api, page }, { filter }) => api.skills.get({ query: { ...page, ...filter } as never }),
    empty: 'No skills.',
  }),
  command`get SKILL: Show one skill
  --json prints everything about it. On the server's machine this includes its manifest.
  $ skills get email-drafter`({ request: ({ api }, { skill }) => api.skills({ ref: skill }).get() }),
  command`versions SKILL (shows versions): List the versions of a skill, newest first
  Lists current and earlier published versions. Only the author and operators see withdrawn ones.
  $ skills versions email-drafter`({
    columns: columnsOf`
      id ID, version VERSION, status STATUS, changelog CHANGES wide, createdAt MADE time`,
    request: ({ api }, { skill }) => api.skills({ ref: skill }).versions.get(),
    empty: 'It has no published version.',
  }),
  command`reviews SKILL (pages reviews): List the reviews of a skill, newest first
  Each person has one review, from one star to five.
  $ skills reviews email-drafter
  $ skills reviews email-drafter --all --json`({
    columns: columnsOf`
      id ID, rating STARS number, body TEXT, authorUserId USER wide, createdAt WRITTEN time`,
    request: ({ api, page }, { skill }) => api.skills({ ref: skill }).reviews.get({ query: page }),
    empty: 'It has no reviews.',
  }),
  command`validate (host, exits 9): Check a manifest like a submission, without a server
  Prints each check and predicts the review tier; exits 9 when a check fails. Only the server can check that the slug is free and the version high enough. ${ABOUT_FILES}
  $ skills validate skill.yaml
  $ skills validate skill.json --json`({
    columns: checkColumns,
    args: { file: FILE },
    async run(shell, { file }) {
      const { examine, hasPassed, warningsOf } = await import('../../src/skills/review')
      const { checks, evidence, tier, reasons, dropped } = examine(await readManifestFile(shell, file))
      shell.print.list(checkRows({ checks, findings: evidence }), checkColumns, 'Nothing was checked.')
      for (const warning of warningsOf(dropped)) shell.note(warning)
      if (!hasPassed(checks)) throw new CheckFailed()
      shell.note(tier === 'auto' ? 'Tier auto: it would be published at once.' : `Tier ${tier}. ${reasons.join(' ')}`)
    },
  }),
  command`submit (tenant, exits 3 5 6, shows submission): Submit a manifest for review
  Submits it for the owner of the key in use: data/dev-key on the server's machine, --key-file elsewhere. Prints the result and the tier. Exits 5 with the reason when the review rejects it. ${ABOUT_FILES}
  $ skills submit skill.yaml
  $ skills submit skill.json --skill-id 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11`({
    columns: columnsOf`
      id ID, skillId SKILL, manifestVersion VERSION, status STATUS, reviewTier TIER, autoApproved AUTO flag`,
    args: { file: FILE },
    flags: {
      skillId: text('ID', 'the skill that gets a new version'),
      visibility: choice(
        ['public', 'org', 'private'],
        'who can use it; everyone by default, and for a new version the same people as before',
      ),
    },
    find: async (shell, { file }) => ({ manifest: await readManifestFile(shell, file) }),
    action: ({ file }) => `submit ${file}`,
    request({ client, headers, shell }, { manifest, skillId, visibility }) {
      const of = { skill_id: skillId || undefined, visibility, target_org_id: shell.globals.org || undefined }
      return client.skills.submit.post({ manifest, ...defined(of) }, { headers })
    },
    note({ submission, warnings }, { manifest }) {
      const next =
        submission.status === 'approved'
          ? `It is published. Install it: svc-admin skills install ${manifest.slug} --key KEY`
          : `A reviewer decides next: svc-admin submissions get ${submission.id}`
      return [...warnings, next].join('\n')
    },
  }),
  command`import (operator, moderate, reason): Add manifests to the store as the server's own skills
  Takes a file, or every manifest of a folder in the order of their names. Each is reviewed like any other and published at once. Versions that already exist are not changed. ${ABOUT_FILES}
  $ skills import ./skills --yes --reason "from staging"
  $ skills import a.json --yes --reason "ours" --json`({
    columns: columnsOf`id ID, slug SLUG, version VERSION, isNew NEW flag`,
    args: { file: argument('manifest, or a folder of manifests') },
    find: async (shell, { file }) => ({
      manifests: await Promise.all(valueFilesIn(shell, file).map((one) => readManifestFile(shell, one))),
    }),
    action: ({ manifests }) => `import ${manifests.length} manifests`,
    question: ({ manifests }) => `Import ${manifests.length} skills and publish them for everyone?`,
    async answer({ ops }, { manifests }) {
      const done = []
      for (const manifest of manifests) done.push(expectData(await ops.skills.post({ manifest })))
      return done
    },
    empty: 'No manifests there.',
    note: (done) =>
      done.flatMap(({ slug, warnings }) => warnings.map((warning) => `${slug}: ${warning}`)).join('\n') || undefined,
  }),
  command`export (operator): Write the manifests of skills to files, to move them to another server
  Writes one skill, or without a name every published skill. Each becomes SLUG.json and includes its knowledge.
  $ skills export email-drafter --out ./skills
  $ skills export --out ./skills --json`({
    columns: columnsOf`slug SLUG, version VERSION, file FILE`,
    args: { skill: { ...optional('slug or id of the skill, or the start of its id'), idFor } },
    flags: { out: needed(text('FOLDER', 'folder for the files; required'), 'add --out FOLDER') },
    async answer({ ops, shell }, { skill, out }) {
      const folder = fromHere(shell.cwd, out)
      mkdirSync(folder, { recursive: true })
      const page = (input: PageQuery) => pageIn(ops.skills.get({ query: { status: 'approved', ...input } }), 'skills')
      const rows: object[] = []
      for (const ref of skill ? [skill] : (await everyEntry(page)).map(({ slug }) => slug)) {
        const { slug, version, manifest } = expectData(await ops.skills({ ref }).get())
        const file = join(folder, `${slug}.json`)
        writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
        rows.push({ slug, version, file })
      }
      return rows
    },
    empty: 'No skill is published.',
  }),
  command`install SKILL: Install a skill for the owner of a key
  All keys of an owner share the installed skills. If the manifest has an onInstall prompt, it runs once.
  $ skills install email-drafter --key ci
  $ skills install email-drafter --url https://svc.example --json`({
    columns: installedColumns,
    flags: forKey,
    action: ({ skill }) => `install ${skill}`,
    answer: (at, { skill, key }) => setInstalled(at, skill, key, true),
  }),
  command`uninstall SKILL (moderate): Uninstall a skill for the owner of a key
  From the next request the skill no longer runs for them. Its settings are deleted.
  $ skills uninstall email-drafter --key ci --yes`({
    columns: installedColumns,
    flags: forKey,
    action: ({ skill }) => `uninstall ${skill}`,
    question: ' Its settings will be lost.',
    answer: (at, { skill, key }) => setInstalled(at, skill, key, false),
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
      ops.skills({ ref: skill }).disable.post({ also_installed: alsoInstalled === true }),
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
    request: ({ ops }, { skill }) => ops.skills({ ref: skill }).enable.post(),
    note: (_, { skill }, { globals }) => `Enabled ${skill}: ${globals.reason}`,
  }),
]

/**
 * Reads a manifest in JSON, JSONC, YAML or TOML, or from stdin with `-`. Files listed in `knowledge` and missing from
 * `knowledgeFiles` are read from the manifest's folder. @throws CommandFailed 2
 */
async function readManifestFile(shell: Shell, file: string): Promise<WrittenManifest> {
  const manifest = await readValueFile(shell, file)
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) {
    throw usageFailure(`${file} is not a manifest: it must contain one object.`)
  }
  const folder = dirname(fromHere(shell.cwd, file))
  return file === '-' ? (manifest as WrittenManifest) : withKnowledge(shell, manifest as WrittenManifest, folder)
}

async function withKnowledge(shell: Shell, manifest: WrittenManifest, folder: string): Promise<WrittenManifest> {
  const { knowledge, knowledgeFiles = {} } = manifest
  if (!Array.isArray(knowledge) || typeof knowledgeFiles !== 'object') return manifest
  const brought = knowledgeFiles as Record<string, unknown>
  const missing = knowledge.filter(
    (name): name is string =>
      typeof name === 'string' && INSIDE.test(name) && !Object.hasOwn(brought, name) && existsSync(join(folder, name)),
  )
  const read = await Promise.all(missing.map(async (name) => [name, await readTextFile(shell, join(folder, name))]))
  return read.length ? { ...manifest, knowledgeFiles: { ...brought, ...Object.fromEntries(read) } } : manifest
}
