// SQLite only: how commands read, reach and print; what each does is tested with its module on both.
import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from '../../cli/command'
import { exitsOf } from '../../cli/help'
import { allCommands } from '../../cli/registry'
import { loadConfig } from '../../src/app/config'
import { start } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { cliHere } from '../support/cli'
import { fakeIo } from '../support/io'
import { isLong } from '../support/long'

const root = mkdtempSync(join(tmpdir(), 'svc-every-'))
const [dataDir, here, home] = [join(root, 'data'), join(root, 'here'), join(root, 'home')]
mkdirSync(here)
const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
const config = loadConfig({ dataDir, port: 0, opsListen: '127.0.0.1:0', configFile: configFile() })
const server = await start({ config, log })
const stopped = join(root, 'stopped')
if (isLong) await (await start({ config: { ...config, dataDir: stopped, opsListen: '' }, log })).stop()
afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true })
})

function configFile(): string {
  const file = join(root, 'svc.server.json')
  writeFileSync(file, '{}')
  return file
}

const run = cliHere({ cwd: here, env: { XDG_CONFIG_HOME: home, SVC_NO_INPUT: '1' } })

const opKey = join(root, 'op.key')
const added = ['operators', 'add', 'every', '--role', 'admin', '-q', '--secret-to', opKey, '--data-dir', dataDir]
expect((await run(added)).exitCode).toBe(0)

/** They end with the server, a key press or never; or they start what this machine may not have. */
const ALONE = ['serve', 'quickstart', 'dashboard', 'browser doctor']
/** They go on until Ctrl-C, which has been pressed already. */
const isEndless = ({ path }: Command, line: readonly string[]) =>
  /(tail|watch|listen|attach|sink)$/.test(path) || line.some((word) => word.startsWith('--watch') || word === '-w')

type Place = { name: string; flags: string[]; offers(command: Command): boolean; once?: boolean }
const places: Place[] = [
  { name: 'the socket', flags: ['--data-dir', dataDir], offers: () => true },
  {
    name: "an operator's key",
    flags: ['--url', server.opsUrl!, '--key-file', opKey],
    offers: ({ apis }) => apis.includes('operator'),
  },
  {
    name: 'an API key',
    flags: ['--url', server.url, '--key-file', join(dataDir, 'dev-key')],
    offers: ({ apis }) => apis.includes('tenant'),
  },
  // Each opens the app by itself, which takes longer than all else here, so the long run has it; how it prints depends
  // on no transport.
  {
    name: 'no server',
    flags: ['--local', '--data-dir', stopped],
    offers: ({ apis, offline }) => isLong && offline && !apis.includes('host'),
    once: true,
  },
]

const formats = [
  { name: 'a table on a terminal', width: 80, flags: [] },
  { name: 'JSON', width: null, flags: ['--json'] },
  { name: 'a pipe', width: null, flags: [] },
]

/** An example of a command, within this test's folder; what changes says what it would do. */
function lineOf(command: Command, example = command.examples[0]!): string[] {
  const words = example.split(/ [|>] /)[0]!.match(/"[^"]*"|'[^']*'|\S+/g)!
  const bare = words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2')).filter((word) => word !== '--open')
  const own = bare.map((word) => (word.startsWith('/') ? join(root, word) : word))
  const reason = own.includes('--reason') ? [] : ['--reason', 'as an example']
  return [...own, ...reason, ...(command.impact === 'write' ? ['--dry-run', '--yes'] : [])]
}

/** What the examples name. */
const workflow = {
  name: 'Daily',
  triggerType: 'manual',
  steps: [{ name: 'Ask', type: 'completion', config: { prompt: 'x' } }],
}
for (const [name, value] of Object.entries({
  'workflow.json': workflow,
  'workflow.yaml': workflow,
  'order.json': { total: 1 },
  'body.json': { total: 1 },
  'prices.json': { 'svc-1-flash': { promptPer1k: 30_000 } },
  'policy.yaml': { name: 'None', rules: [] },
  'preference.yaml': { name: 'None', rules: [] },
  'canvas.json': { title: 'Plan', type: 'document', content: '# Plan' },
}))
  writeFileSync(join(here, name), JSON.stringify(value))

type Notice = { line: readonly string[]; exitCode: number; stdout: string; stderr: string }

/** Runs a line as it is for a terminal of `width` columns, or null for a pipe; what ends with Ctrl-C has had it. */
async function tried(command: Command, line: readonly string[], width: number | null): Promise<Notice> {
  const signal = isEndless(command, line) ? AbortSignal.abort() : new AbortController().signal
  const notice = { line, ...(await run(line, { io: fakeIo({ width }), signal })) }
  const allowed = [...exitsOf(command).filter((code) => code !== 1 || command.exits.includes(1)), 130]
  expect(allowed, spelled(notice)).toContain(notice.exitCode)
  expect(notice.stderr, spelled(notice)).not.toContain('"unexpected"')
  return notice
}

const spelled = ({ line, exitCode, stdout, stderr }: Notice): string =>
  `${line.join(' ')}: ${exitCode}\n${stdout}${stderr}`

const commands = (await allCommands()).filter(({ path }) => !ALONE.includes(path))

test.each(commands.map((command) => [command.path, command] as const))(
  '%s answers over each transport, as a table, JSON and in a pipe',
  async (_path, command) => {
    for (const place of places.filter(({ offers }) => offers(command))) {
      for (const { name, width, flags } of place.once ? formats.slice(1, 2) : formats) {
        const notice = await tried(command, [...lineOf(command), ...flags, ...place.flags], width)
        // No colour leaves the terminal.
        if (width === null) expect(notice.stdout + notice.stderr, spelled(notice)).not.toContain('\u001b')
        if (name === 'JSON' && notice.stdout && command.columns)
          expect(() => parsed(notice.stdout), spelled(notice)).not.toThrow()
      }
    }
    for (const example of command.examples.slice(1))
      await tried(command, [...lineOf(command, example), '--data-dir', dataDir], null)
  },
)

/** One document, or a line each. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
}

test('none of them has left anything in the folder it was called in', () => {
  expect(existsSync(join(here, 'data'))).toBe(false)
})
