import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandFailure, type SvcShell } from './shell'

/** Where each editor keeps its MCP servers (contract 23.2), and a folder or file that shows that it is in use. */
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

export const EDITOR_NAMES = Object.keys(EDITORS)

const homeOf = ({ env }: SvcShell): string => env.HOME || homedir()

/** The entry that starts the MCP server; the key itself is in no file. */
const ENTRY = { command: 'npx', args: ['-y', 'svc', 'mcp'], env: { SVC_API_KEY: '${' + 'env:SVC_API_KEY}' } }

/** The editors that this folder or home is used with. */
export const editorsFound = (shell: SvcShell): string[] =>
  EDITOR_NAMES.filter((name) => existsSync(EDITORS[name]!.sign(shell)) || existsSync(EDITORS[name]!.file(shell)))

/** Writes the entry into the editor's file, beside what is there. Throws when the file is not JSON, and leaves it. */
export function install(shell: SvcShell, name: string): string {
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
