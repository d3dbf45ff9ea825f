import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { SvcError } from '..'
import { clientOf } from './credentials'
import { CommandFailure, type SvcShell } from './shell'

const FILE = 'svc-skill.json'
type Manifest = Record<string, unknown> & {
  permissions?: string[]
  tools?: unknown[]
  toolDefinitions?: unknown[]
  knowledge?: unknown[]
}

/** `svc skill init`: a manifest to begin from, and its README. */
export function initSkill(shell: SvcShell, folder = '.'): void {
  const at = resolve(shell.cwd, folder)
  const file = join(at, FILE)
  if (existsSync(file)) throw new CommandFailure(`${file} is there already.`)
  mkdirSync(at, { recursive: true })
  const slug =
    basename(at)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'my-skill'
  const manifest = {
    name: slug,
    slug,
    version: '1.0.0',
    description: 'What it helps with, in one sentence.',
    category: 'productivity',
    author: { name: 'Your name' },
    systemPromptExtension: 'What the engine is told when this skill takes part.',
  }
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  const readme = join(at, 'README.md')
  if (!existsSync(readme)) writeFileSync(readme, `# ${slug}\n\nWhat it is for, and an example.\n`)
  shell.out(`wrote ${FILE} and README.md; check it with: svc skill validate`)
}

/** `svc skill validate`: whether the manifest has what a manifest needs, and who must read it (contract 23.2). */
export function validateSkill(shell: SvcShell, folder = '.'): void {
  const manifest = readManifest(shell, folder)
  const missing = ['name', 'slug', 'version', 'description', 'category', 'author', 'systemPromptExtension'].filter(
    (name) => !manifest[name],
  )
  if (missing.length) throw new CommandFailure(`${FILE} lacks ${missing.join(', ')}.`)
  shell.out(`${FILE} has what it needs. Review: ${tierOf(manifest)}.`)
}

/** `svc skill publish`: submits the manifest with its README; the checks are the server's. */
export async function publishSkill(shell: SvcShell, folder = '.'): Promise<void> {
  validateSkill(shell, folder)
  const manifest = readManifest(shell, folder)
  const readme = join(resolve(shell.cwd, folder), 'README.md')
  const whole = existsSync(readme) ? { ...manifest, readme: readFileSync(readme, 'utf8') } : manifest
  try {
    const { submission } = await clientOf(shell).skills.submit({ manifest: whole })
    shell.out(`submitted as ${submission.id}: ${submission.status}`)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const lines = error.details.map(({ path, message }) => `  ${path}: ${message}`)
    throw new CommandFailure([error.message, ...lines].join('\n'))
  }
}

function readManifest(shell: SvcShell, folder: string): Manifest {
  const file = join(resolve(shell.cwd, folder), FILE)
  if (!existsSync(file)) throw new CommandFailure(`There is no ${FILE} here. Begin with: svc skill init`)
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Manifest
  } catch {
    throw new CommandFailure(`${file} is not JSON.`)
  }
}

/** External and (writes or tools) is for security; tools, knowledge or writes for staff; the rest passes by itself. */
export function tierOf({ permissions = [], tools, toolDefinitions, knowledge = [] }: Manifest): string {
  const has = (start: string) => permissions.some((permission) => String(permission).startsWith(start))
  const hasTools = (tools ?? toolDefinitions ?? []).length > 0 || has('execute:')
  if (has('external:') && (has('write:') || hasTools)) return 'security'
  return hasTools || knowledge.length > 0 || has('write:') ? 'staff' : 'auto'
}
