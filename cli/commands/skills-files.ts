import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomBase62 } from '../../src/kernel/crypto'
import { defineCommand } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { readManifestFile } from '../manifest-file'
import { column } from '../output/columns'
import { eachEntry } from '../pages'
import { requireReason } from '../reason'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { argument, choice, optional, text } from '../words'
import { checkColumns, checkRows } from './skills-columns'

const FILE = argument('manifest as JSON, JSONC, YAML or TOML; - is stdin')
const ABOUT_FILES =
  'Files that "knowledge" names are read from the folder of the manifest. svc-admin help manifest prints one to begin from.'

const validateSkill = defineCommand({
  path: 'skills validate',
  summary: 'Check a manifest like a submission, without a server',
  about: `Prints each check and predicts who must review it; exits 9 when a check fails. Only the server knows whether the slug is free and the version high enough. ${ABOUT_FILES}`,
  examples: ['skills validate skill.yaml', 'skills validate skill.json --json'],
  apis: ['host'],
  impact: 'read',
  exits: [9],
  columns: checkColumns,
  args: { file: FILE },
  async run(shell, { file }) {
    const { examine, hasPassed, warningsOf } = await import('../../src/skills/review')
    const { checks, evidence, tier, reasons, dropped } = examine(await readManifestFile(shell, file))
    shell.print.list(checkRows({ checks, findings: evidence }), checkColumns, 'Nothing was checked.')
    for (const warning of warningsOf(dropped)) shell.note(warning)
    if (!hasPassed(checks)) throw new CheckFailed()
    shell.note(tier === 'auto' ? 'Tier auto: in force at once.' : `Tier ${tier}. ${reasons.join(' ')}`)
  },
})

const submitted = [
  column('id', 'ID'),
  column('skillId', 'SKILL'),
  column('manifestVersion', 'VERSION'),
  column('status', 'STATUS'),
  column('reviewTier', 'TIER'),
  column('autoApproved', 'AUTO', { kind: 'flag' }),
]

const submitSkill = defineCommand({
  path: 'skills submit',
  summary: 'Submit a manifest for review',
  about: `Submits it for the owner of the key in use: data/dev-key on the server's machine, that of --key-file elsewhere. Prints what became of it and its tier. Exits 5 when the review refuses it, with the reason. ${ABOUT_FILES}`,
  examples: ['skills submit skill.yaml', 'skills submit skill.json --skill-id 2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11'],
  apis: ['tenant'],
  impact: 'write',
  exits: [3, 5, 6],
  columns: submitted,
  args: { file: FILE },
  flags: {
    skillId: text('ID', 'the skill this is a new version of'),
    visibility: choice(
      ['public', 'org', 'private'],
      'who may have it; by default everyone, and for a new version whoever may already',
    ),
  },
  async run(shell, { file, skillId, visibility }) {
    const manifest = await readManifestFile(shell, file)
    if (shell.planned(`submit ${file}`)) return
    const { client } = await (await shell.connect()).tenant()
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const order = {
      manifest,
      ...(skillId ? { skill_id: skillId } : {}),
      ...(visibility ? { visibility } : {}),
      ...(shell.globals.org ? { target_org_id: shell.globals.org } : {}),
    }
    const { submission, warnings } = expectData(await client.skills.submit.post(order, { headers }))
    shell.print.item(submission, submitted)
    for (const warning of warnings) shell.note(warning)
    shell.note(
      submission.status === 'approved'
        ? `It is in force: svc-admin skills install ${manifest.slug} --key KEY`
        : `A reviewer decides: svc-admin submissions get ${submission.id}`,
    )
  },
})

const imported = [
  column('id', 'ID'),
  column('slug', 'SLUG'),
  column('version', 'VERSION'),
  column('isNew', 'NEW', { kind: 'flag' }),
]

const importSkills = defineCommand({
  path: 'skills import',
  summary: "Add manifests to the store as the server's own skills",
  about: `Takes a file, or every manifest of a folder in the order of their names. Each is reviewed like any other and in force at once. A version that is there already changes nothing. ${ABOUT_FILES}`,
  examples: [
    'skills import ./skills --yes --reason "from staging"',
    'skills import a.json --yes --reason "ours" --json',
  ],
  apis: ['operator'],
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns: imported,
  args: { file: argument('manifest, or folder of manifests') },
  async run(shell, { file }) {
    requireReason(shell, 'skills import')
    const manifests = await Promise.all(manifestsIn(shell, file).map((one) => readManifestFile(shell, one)))
    if (shell.planned(`import ${manifests.length} manifests`)) return
    shell.confirm(`Import ${manifests.length} skills, in force for everyone?`)
    const connection = await shell.connect()
    const rows: object[] = []
    const warnings: string[] = []
    for (const manifest of manifests) {
      const done = expectData(await connection.ops().skills.post({ manifest }))
      rows.push(done)
      warnings.push(...done.warnings.map((warning) => `${done.slug}: ${warning}`))
    }
    shell.print.list(rows, imported, 'No manifests there.')
    for (const warning of warnings) shell.note(warning)
  },
})

function manifestsIn(shell: Shell, file: string): string[] {
  const path = fromHere(shell.cwd, file)
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (!isFolder) return [file]
  const names = readdirSync(path).filter((name) => /\.(jsonc?|ya?ml|toml)$/.test(name))
  return names.sort().map((name) => join(path, name))
}

const exported = [column('slug', 'SLUG'), column('version', 'VERSION'), column('file', 'FILE')]

const exportSkills = defineCommand({
  path: 'skills export',
  summary: 'Write the manifests of skills to files, to move them to another server',
  about:
    'Writes one skill, or without a name every skill that is in force. Each becomes SLUG.json, with its knowledge inside.',
  examples: ['skills export email-drafter --out ./skills', 'skills export --out ./skills --json'],
  apis: ['operator'],
  impact: 'read',
  exits: [3],
  columns: exported,
  args: { skill: optional('slug or id of the skill') },
  flags: { out: text('FOLDER', 'where to; required') },
  async run(shell, { skill, out }) {
    if (out === undefined) throw usageFailure('Where the files go is not said.', 'add --out FOLDER')
    const ops = (await shell.connect()).ops
    const folder = fromHere(shell.cwd, out)
    mkdirSync(folder, { recursive: true })
    const rows: object[] = []
    for (const ref of skill ? [skill] : await everySlug(ops())) {
      const { slug, version, manifest } = expectData(
        await ops()
          .skills({ ref: encodeURIComponent(ref) })
          .get(),
      )
      const file = join(folder, `${slug}.json`)
      writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
      rows.push({ slug, version, file })
    }
    shell.print.list(rows, exported, 'No skill is in force.')
  },
})

type Ops = ReturnType<Awaited<ReturnType<Shell['connect']>>['ops']>

const everySlug = (ops: Ops): Promise<string[]> =>
  Array.fromAsync(
    eachEntry(async (order) => {
      const { skills, next_cursor } = expectData(await ops.skills.get({ query: { status: 'approved', ...order } }))
      return { items: skills.map(({ slug }) => slug), next: next_cursor }
    }),
  )

export const skillFileCommands = [validateSkill, submitSkill, importSkills, exportSkills]
