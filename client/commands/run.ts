import { SvcError } from '..'
import { baseOf, clientOf, forget, keyOf, masked } from './credentials'
import { EDITOR_NAMES, editorsFound, install } from './editors'
import { init, projectOf } from './project'
import { CommandFailure, type SvcShell } from './shell'
import { initSkill, publishSkill, validateSkill } from './skill'

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

/** Runs one command of the tenant (contract 23.2), and gives its exit code. */
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
  const { serveStdio } = await import('./stdio')
  await serveStdio(client, await projectOf(shell))
  return 0
}
