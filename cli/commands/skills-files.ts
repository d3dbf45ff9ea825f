import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defined } from '../api'
import { commandsOf } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { readTextFile, readValueFile } from '../files'
import { columnsOf } from '../output/columns'
import { everyEntry, pageIn } from '../pages'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { argument, choice, needed, optional, text } from '../words'
import { checkColumns, checkRows } from './skills'

/** A manifest as its author writes it, with the text of its knowledge files. */
type WrittenManifest = Record<string, unknown>

/** Matches names inside the folder. Other files are not read, and the review rejects them. */
const INSIDE = /^(?!\/)(?!.*(^|\/)\.\.(\/|$))[^\\]+$/

const FILE = argument('manifest as JSON, JSONC, YAML or TOML; - reads stdin')
const ABOUT_FILES =
  'Files named in "knowledge" are read from the folder of the manifest. svc-admin help manifest prints a manifest to start from.'

const command = commandsOf('skills', { apis: ['operator'] })

const submitted = columnsOf`
  id ID, skillId SKILL, manifestVersion VERSION, status STATUS, reviewTier TIER, autoApproved AUTO flag`

const imported = columnsOf`id ID, slug SLUG, version VERSION, isNew NEW flag`

function manifestsIn(shell: Shell, file: string): string[] {
  const path = fromHere(shell.cwd, file)
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (!isFolder) return [file]
  return readdirSync(path)
    .filter((name) => /\.(jsonc?|ya?ml|toml)$/.test(name))
    .sort()
    .map((name) => join(path, name))
}

const exported = columnsOf`slug SLUG, version VERSION, file FILE`

type Ops = ReturnType<Awaited<ReturnType<Shell['connect']>>['ops']>

const everySlug = async (ops: Ops): Promise<string[]> =>
  (await everyEntry((input) => pageIn(ops.skills.get({ query: { status: 'approved', ...input } }), 'skills'))).map(
    ({ slug }) => slug,
  )

export const skillFileCommands = [
  command`validate: Check a manifest like a submission, without a server
  Prints each check and predicts the review tier; exits 9 when a check fails. Only the server can check that the slug is free and the version high enough. ${ABOUT_FILES}
  $ skills validate skill.yaml
  $ skills validate skill.json --json`({
    apis: ['host'],
    exits: [9],
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
  command`submit: Submit a manifest for review
  Submits it for the owner of the key in use: data/dev-key on the server's machine, --key-file elsewhere. Prints the result and the tier. Exits 5 with the reason when the review rejects it. ${ABOUT_FILES}
  $ skills submit skill.yaml
  $ skills submit skill.json --skill-id 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11`({
    apis: ['tenant'],
    exits: [3, 5, 6],
    columns: submitted,
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
    shown: ({ submission }) => submission,
    note({ submission, warnings }, { manifest }) {
      const next =
        submission.status === 'approved'
          ? `It is published. Install it: svc-admin skills install ${manifest.slug} --key KEY`
          : `A reviewer decides next: svc-admin submissions get ${submission.id}`
      return [...warnings, next].join('\n')
    },
  }),
  command`import: Add manifests to the store as the server's own skills
  Takes a file, or every manifest of a folder in the order of their names. Each is reviewed like any other and published at once. Versions that already exist are not changed. ${ABOUT_FILES}
  $ skills import ./skills --yes --reason "from staging"
  $ skills import a.json --yes --reason "ours" --json`({
    danger: 'moderate',
    columns: imported,
    args: { file: argument('manifest, or a folder of manifests') },
    reason: true,
    find: async (shell, { file }) => ({
      manifests: await Promise.all(manifestsIn(shell, file).map((one) => readManifestFile(shell, one))),
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
  command`export: Write the manifests of skills to files, to move them to another server
  Writes one skill, or without a name every published skill. Each becomes SLUG.json and includes its knowledge.
  $ skills export email-drafter --out ./skills
  $ skills export --out ./skills --json`({
    columns: exported,
    args: { skill: optional('slug or id of the skill') },
    flags: { out: needed(text('FOLDER', 'folder for the files; required'), 'add --out FOLDER') },
    async run(shell, { skill, out }) {
      const ops = (await shell.connect()).ops
      const folder = fromHere(shell.cwd, out)
      mkdirSync(folder, { recursive: true })
      const rows: object[] = []
      for (const ref of skill ? [skill] : await everySlug(ops())) {
        const one = ops().skills({ ref: encodeURIComponent(ref) })
        const { slug, version, manifest } = expectData(await one.get())
        const file = join(folder, `${slug}.json`)
        writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
        rows.push({ slug, version, file })
      }
      shell.print.list(rows, exported, 'No skill is published.')
    },
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
