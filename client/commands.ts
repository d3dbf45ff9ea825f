import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Project } from '../src/pages/mcp-schema'
import { createSvc, type Svc, SvcError } from './index'

/** What a command may touch: tests hand in their own. */
type SvcShell = {
  env: Readonly<Record<string, string | undefined>>
  /** The folder that the command was typed in. */
  cwd: string
  out(line: string): void
  err(line: string): void
}

/** A command that did not do what was asked: one line says why. */
class CommandFailure extends Error {
  override name = 'CommandFailure'
}

const PRIVATE = 0o600

const DEFAULT_BASE = 'http://127.0.0.1:3400'

const fileOf = ({ env }: SvcShell): string => join(env.HOME || homedir(), '.svc', 'credentials')

/** A key by its first and last characters. */
const masked = (key: string): string => `${key.slice(0, 12)}…${key.slice(-4)}`

const baseOf = ({ env }: SvcShell): string => env.SVC_BASE_URL || DEFAULT_BASE

const SKILL_FILE = 'svc-skill.json'

type Manifest = Record<string, unknown> & {
  permissions?: string[]
  tools?: unknown[]
  toolDefinitions?: unknown[]
  knowledge?: unknown[]
}

/** Where each editor keeps its MCP servers (docs/api.md 23.2), and a folder or file that shows that it is in use. */
const EDITORS: Record<string, { file(shell: SvcShell): string; sign(shell: SvcShell): string }> = {
  cursor: { file: ({ cwd }) => join(cwd, '.cursor/mcp.json'), sign: ({ cwd }) => join(cwd, '.cursor') },
  'claude-code': { file: ({ cwd }) => join(cwd, '.mcp.json'), sign: ({ cwd }) => join(cwd, '.claude') },
  windsurf: {
    file: (shell) => join(homeOf(shell), '.codeium/windsurf/mcp_config.json'),
    sign: (shell) => join(homeOf(shell), '.codeium/windsurf'),
  },
  warp: { file: ({ cwd }) => join(cwd, '.warp/mcp.json'), sign: ({ cwd }) => join(cwd, '.warp') },
  vscode: { file: ({ cwd }) => join(cwd, '.vscode/mcp.json'), sign: ({ cwd }) => join(cwd, '.vscode') },
}

const EDITOR_NAMES = Object.keys(EDITORS)

const homeOf = ({ env }: SvcShell): string => env.HOME || homedir()

/** The entry that starts the MCP server; the key itself is in no file. */
const ENTRY = { command: 'npx', args: ['-y', 'svc', 'mcp'], env: { SVC_API_KEY: '${' + 'env:SVC_API_KEY}' } }

/** The editors that this folder or home is used with. */
const editorsFound = (shell: SvcShell): string[] =>
  EDITOR_NAMES.filter((name) => existsSync(EDITORS[name]!.sign(shell)) || existsSync(EDITORS[name]!.file(shell)))

const FILE = 'svc.config.json'

const RULES = `# Rules for agents

- Questions that need several sources go to the tool svc_research, pictures to svc_image, documents to svc_document.
- Send no secrets in prompts. The key stays in SVC_API_KEY.
- Costs are shown by GET /usage; research and video cost the most.
`

const USAGE = `Usage: svc COMMAND

  init [dir]                        settings of this project, entries of the editors, rules for agents
  login                             how to get a key, and where to put it
  logout                            deletes the key of ~/.svc/credentials
  status                            the key, the address, and whether they work
  verify                            the same as JSON; exit code 1 when the key is not taken
  complete "PROMPT"                 answers a prompt
  skill init|validate|publish [dir] creates, checks and submits a skill
  mcp                               the MCP server, over stdio
  mcp install [--ide NAME]          writes the entry for ${EDITOR_NAMES.join(', ')} or all

Read: SVC_API_KEY, SVC_BASE_URL`

/** Runs one command of the tenant (docs/api.md 23.2), and gives its exit code. */
export async function runSvc(words: readonly string[], shell: SvcShell): Promise<number> {
  try {
    return await dispatch(words, shell)
  } catch (error) {
    if (!(error instanceof CommandFailure || error instanceof SvcError)) throw error
    shell.err(`error: ${error.message}`)
    return 1
  }
}

async function dispatch([command, ...rest]: readonly string[], shell: SvcShell): Promise<number> {
  switch (command) {
    case 'init':
      init(shell, rest[0])
      return 0
    case 'login':
      return login(shell)
    case 'logout':
      return logout(shell)
    case 'status':
      return status(shell)
    case 'verify':
      return verify(shell)
    case 'complete':
      return complete(shell, rest.join(' '))
    case 'skill':
      return skill(shell, rest)
    case 'mcp':
      return rest[0] === 'install' ? mcpInstall(shell, rest.slice(1)) : mcp(shell, rest)
    case undefined:
    case 'help':
    case '--help':
    case '-h':
      shell.out(USAGE)
      return 0
    default:
      shell.err(`error: there is no command "${command.slice(0, 80)}"`)
      shell.err(USAGE)
      return 1
  }
}

function login(shell: SvcShell): number {
  const key = keyOf(shell)
  if (key) shell.out(`A key is there already: ${masked(key)}`)
  shell.out(`1. Sign in at ${baseOf(shell)}/sign-in`)
  shell.out('2. Create a key on the page that follows. It is shown once.')
  shell.out('3. export SVC_API_KEY=svc_sk_…, or write {"apiKey":"svc_sk_…"} into ~/.svc/credentials')
  return 0
}

function logout(shell: SvcShell): number {
  shell.out(forget(shell) ? 'The key in ~/.svc/credentials is deleted.' : 'There was no ~/.svc/credentials.')
  if (shell.env.SVC_API_KEY) shell.err('SVC_API_KEY is still set: unset SVC_API_KEY')
  return 0
}

async function status(shell: SvcShell): Promise<number> {
  const key = keyOf(shell)
  const base = baseOf(shell)
  const found = await clientOf(shell, { keyless: true }).verify()
  shell.out(`key       ${key ? masked(key) : 'none'}`)
  shell.out(`address   ${base}`)
  shell.out(`server    ${found.healthy ? `answers in ${found.latencyMs} ms` : 'does not answer'}`)
  shell.out(`key works ${found.authenticated ? `yes, ${found.modelCount} engines` : `no: ${found.error}`}`)
  if (found.hint) shell.out(`hint      ${found.hint}`)
  const { status: code, to } = await redirectOf(base)
  if (to) shell.out(`hint      ${base} answers ${code} and leads to ${to}; set SVC_BASE_URL to that address`)
  return 0
}

/** Where the address sends callers: an apex that leads to `www` loses the key on the way. */
async function redirectOf(base: string): Promise<{ status: number; to: string | null }> {
  try {
    const answer = await fetch(`${base}/api/v1/health`, { redirect: 'manual', signal: AbortSignal.timeout(5_000) })
    return {
      status: answer.status,
      to: answer.status >= 300 && answer.status < 400 ? answer.headers.get('location') : null,
    }
  } catch {
    return { status: 0, to: null }
  }
}

async function verify(shell: SvcShell): Promise<number> {
  const found = await clientOf(shell, { keyless: true }).verify()
  shell.out(JSON.stringify(found, null, 2))
  return found.authenticated ? 0 : 1
}

async function complete(shell: SvcShell, prompt: string): Promise<number> {
  if (!prompt) throw new CommandFailure('There is no prompt. Example: svc complete "Explain tides"')
  const { content, model, mode, usage } = await clientOf(shell).complete({ prompt, mode: 'auto' })
  shell.out(content)
  shell.out('')
  shell.out(`Model: ${model.id} | Mode: ${mode} | Cost: ${usage.cost_cents}¢`)
  return 0
}

async function skill(shell: SvcShell, [verb, folder]: readonly string[]): Promise<number> {
  if (verb === 'init') initSkill(shell, folder)
  else if (verb === 'validate') validateSkill(shell, folder)
  else if (verb === 'publish') await publishSkill(shell, folder)
  else throw new CommandFailure('Say which: svc skill init, validate or publish')
  return 0
}

function mcpInstall(shell: SvcShell, words: readonly string[]): number {
  const at = words.indexOf('--ide')
  const question = at >= 0 ? (words[at + 1] ?? '') : 'all'
  if (question !== 'all' && !EDITOR_NAMES.includes(question)) {
    throw new CommandFailure(
      `There is no IDE "${question.slice(0, 80)}". There are ${EDITOR_NAMES.join(', ')} and all.`,
    )
  }
  const found = at < 0 ? editorsFound(shell) : []
  const names = question !== 'all' ? [question] : found.length ? found : EDITOR_NAMES
  for (const name of names) shell.out(`wrote ${install(shell, name)} (${name})`)
  return 0
}

/** Serves MCP until its input ends; everything but the protocol goes to stderr. */
async function mcp(shell: SvcShell, words: readonly string[]): Promise<number> {
  if (words.length) throw new CommandFailure(`svc mcp takes no "${words[0]!.slice(0, 80)}"; there is svc mcp install.`)
  const client = clientOf(shell)
  const { serveStdio } = await import('./mcp-stdio')
  await serveStdio(client, await projectOf(shell))
  return 0
}

/** \`svc init\`: the project's settings, the entries of the editors that are found, and rules for agents. */
function init(shell: SvcShell, folder = '.'): void {
  const cwd = resolve(shell.cwd, folder)
  mkdirSync(join(cwd, '.svc'), { recursive: true })
  const config = join(cwd, FILE)
  if (existsSync(config)) shell.out(`${FILE} is there already, and was left as it is.`)
  else {
    writeFileSync(config, `${JSON.stringify({ persona: 'svc', skills: [], defaultMode: 'auto' }, null, 2)}\n`)
    shell.out(`wrote ${FILE}`)
  }
  for (const name of editorsFound({ ...shell, cwd })) shell.out(`wrote ${install({ ...shell, cwd }, name)} (${name})`)
  writeFileSync(join(cwd, '.svc/RULES.md'), RULES)
  shell.out('wrote .svc/RULES.md')
}

/** The project's settings; code is only run where SVC_ALLOW_JS_CONFIG=1 says so (docs/api.md 23.3). */
async function projectOf({ cwd, env }: SvcShell): Promise<Project> {
  const file = join(cwd, FILE)
  if (existsSync(file)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Project
    } catch {
      throw new CommandFailure(`${FILE} is not JSON.`)
    }
  }
  const program = ['svc.config.js', 'svc.config.ts'].map((name) => join(cwd, name)).find((name) => existsSync(name))
  if (!program || env.SVC_ALLOW_JS_CONFIG !== '1') return {}
  const { default: project } = (await import(pathToFileURL(program).href)) as { default: Project }
  return project
}

/** Writes the entry into the editor's file, beside what is there. Throws when the file is not JSON, and leaves it. */
function install(shell: SvcShell, name: string): string {
  const file = EDITORS[name]!.file(shell)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}'
  let known: { mcpServers?: Record<string, unknown> }
  try {
    known = JSON.parse(text || '{}')
  } catch {
    throw new CommandFailure(`${file} is not JSON; it was left as it is.`)
  }
  mkdirSync(dirname(file), { recursive: true })
  const servers = { ...known.mcpServers, svc: ENTRY }
  writeFileSync(file, `${JSON.stringify({ ...known, mcpServers: servers }, null, 2)}\n`)
  return file
}

/** `svc skill init`: a manifest to begin from, and its README. */
function initSkill(shell: SvcShell, folder = '.'): void {
  const at = resolve(shell.cwd, folder)
  const file = join(at, SKILL_FILE)
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
  shell.out(`wrote ${SKILL_FILE} and README.md; check it with: svc skill validate`)
}

/** `svc skill validate`: whether the manifest has what a manifest needs, and who must read it (docs/api.md 23.2). */
function validateSkill(shell: SvcShell, folder = '.'): void {
  const manifest = readManifest(shell, folder)
  const missing = ['name', 'slug', 'version', 'description', 'category', 'author', 'systemPromptExtension'].filter(
    (name) => !manifest[name],
  )
  if (missing.length) throw new CommandFailure(`${SKILL_FILE} lacks ${missing.join(', ')}.`)
  shell.out(`${SKILL_FILE} has what it needs. Review: ${tierOf(manifest)}.`)
}

/** `svc skill publish`: submits the manifest with its README; the checks are the server's. */
async function publishSkill(shell: SvcShell, folder = '.'): Promise<void> {
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
  const file = join(resolve(shell.cwd, folder), SKILL_FILE)
  if (!existsSync(file)) throw new CommandFailure(`There is no ${SKILL_FILE} here. Begin with: svc skill init`)
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

/** The key in use: SVC_API_KEY, else the credentials file, whose mode is made 0600 again; null without one. */
function keyOf(shell: SvcShell): string | null {
  if (shell.env.SVC_API_KEY) return shell.env.SVC_API_KEY
  const file = fileOf(shell)
  if (!existsSync(file)) return null
  if ((statSync(file).mode & 0o777) !== PRIVATE) chmodSync(file, PRIVATE)
  try {
    const { apiKey } = JSON.parse(readFileSync(file, 'utf8')) as { apiKey?: unknown }
    return typeof apiKey === 'string' && apiKey ? apiKey : null
  } catch {
    throw new CommandFailure(`${file} is not JSON any more; it should be {"apiKey":"svc_sk_…"}.`)
  }
}

/** Deletes the credentials file; says whether there was one. */
function forget(shell: SvcShell): boolean {
  const file = fileOf(shell)
  const was = existsSync(file)
  rmSync(file, { force: true })
  return was
}

/** The client of the key in use. Throws without one, unless `keyless`. */
function clientOf(shell: SvcShell, { keyless = false } = {}): Svc {
  const apiKey = keyOf(shell)
  if (!apiKey && !keyless) {
    throw new CommandFailure('There is no key. Set SVC_API_KEY, or put {"apiKey":"svc_sk_…"} into ~/.svc/credentials.')
  }
  return createSvc({ baseUrl: baseOf(shell), apiKey: apiKey ?? '' })
}
