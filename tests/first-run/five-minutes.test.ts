import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { startUpstream } from '../support/upstream'
import { type Clone, cloneRepository } from './clone'
import { BLOCKS, blockOf, GUIDES, tourLine } from './readme'

const PATIENCE_MS = 120_000

let clone: Clone
let server: Awaited<ReturnType<Clone['serve']>>
beforeAll(async () => {
  clone = await cloneRepository()
  server = await clone.serve(blockOf('start'))
}, PATIENCE_MS)
afterAll(async () => {
  await server.end()
  clone.remove()
})

/** Programs that print the same answer. */
const PROGRAMS = ['hello.mjs', 'responses.mjs', 'client.ts', 'fetch.mjs']

/** What is printed, with anything where the text has `…`. */
const shapeOf = (prints: string): RegExp =>
  new RegExp(
    `^${prints
      .split('…')
      .map((part) => RegExp.escape(part))
      .join('[\\s\\S]*')}$`,
  )

const TOOL = { name: 'weather', description: 'The weather.', endpoint: { url: 'https://example.com/weather' } }

async function ask(path: string, input: object) {
  const reply = await fetch(`${clone.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${clone.read('data/dev-key').trim()}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  return { status: reply.status, body: (await reply.json()) as { tools_used?: object[] } }
}

/** What a reader should see after each block. */
const SEEN: Record<string, RegExp> = {
  try: /^One, two, .+/,
  'first-answer': /"content":"[^"]*391[^"]*"/,
  'first-stream': /^event: meta\n[\s\S]+event: token\n[\s\S]+event: done\ndata: \{.*"content":"One, two/,
  chat: /"object":"chat\.completion".*"content":"One, two/,
}

describe('the README, typed into a fresh copy', () => {
  test('starts the server, keeps the first key out of the log and in a file only its owner can read', () => {
    expect(clone.read('data/dev-key')).toMatch(/^svc_sk_live_\w+\n$/)
    expect(statSync(clone.path('data/dev-key')).mode & 0o777).toBe(0o600)
    expect(statSync(clone.path('data')).mode & 0o777).toBe(0o700)
  })

  test.each(Object.entries(SEEN))(
    'shows what it promises: %s',
    async (name, seen) => {
      const { exitCode, stdout, stderr } = await clone.type(blockOf(name))
      expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(stdout).toMatch(seen)
    },
    PATIENCE_MS,
  )

  test(
    'lets in the clients that it names, as they are pasted',
    async () => {
      for (const name of PROGRAMS) writeFileSync(clone.path(name), clone.here(blockOf(name)))
      const run = PROGRAMS.map((name) => `${process.execPath} ${name} | head -n 1`).join('\n')
      const { exitCode, stdout, stderr } = await clone.type(`export SVC_API_KEY=$(cat data/dev-key)\n${run}`)
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
      expect(stdout.match(/^One, two, .+/gm)).toHaveLength(PROGRAMS.length)

      const config = clone.here(blockOf('mcp.json')).replace('svc_sk_live_…', clone.read('data/dev-key').trim())
      const { url, headers } = JSON.parse(config).mcpServers.svc
      const client = new Client({ name: 'reader', version: '1' })
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport)
      const answer = await client.callTool({ name: 'svc_complete', arguments: { prompt: 'Count to five slowly' } })
      expect(JSON.stringify(answer.content)).toContain('One, two, ')
      await client.close()
    },
    PATIENCE_MS,
  )

  test(
    'prints on the tour what it shows of it',
    async () => {
      const requested = await clone.type(blockOf('first-answer').replace('17 * 23', '19 * 23'))
      const request = /req_\w+/.exec(requested.stdout)![0]
      expect((await clone.type(`./svc-admin trace ${request}`)).stdout).toMatch(tourLine('trace'))
      expect((await clone.type('./svc-admin audit verify')).stdout).toMatch(tourLine('audit verify'))
    },
    PATIENCE_MS,
  )

  test.each(GUIDES.map((guide) => [guide.file, guide] as const))(
    'has a guide whose task is done as it says: %s',
    async (_, { typed, check, prints }) => {
      expect([typed, check, prints]).not.toContain('')
      const done = await clone.type(typed)
      expect({ exitCode: done.exitCode, stderr: done.exitCode ? done.stderr : '' }).toEqual({ exitCode: 0, stderr: '' })
      const { stdout, stderr } = await clone.type(check)
      expect(stdout.trim(), stderr).toMatch(shapeOf(prints.trim()))
    },
    PATIENCE_MS,
  )

  test(
    'needs no Bun on PATH for a command, which takes at most 0.2 s of processor',
    () => {
      const bin = clone.path('only-node')
      mkdirSync(bin)
      for (const tool of ['sh', 'readlink', 'dirname', 'node', 'npm', 'npx'])
        symlinkSync(Bun.which(tool)!, join(bin, tool))
      for (const words of [['version'], ['help'], ['status'], ['keys', 'list']]) {
        const spentS = Array.from({ length: 5 }, () => {
          const command = [clone.path('svc-admin'), ...words]
          const { exitCode, resourceUsage } = Bun.spawnSync(command, { cwd: clone.folder, env: { PATH: bin } })
          expect({ words, exitCode }).toEqual({ words, exitCode: 0 })
          return Number(resourceUsage.cpuTime.total) / 1e6
        })
        expect(Math.min(...spentS), words.join(' ')).toBeLessThanOrEqual(0.2)
      }
    },
    PATIENCE_MS,
  )

  test(
    'holds a configuration file that this release reads',
    async () => {
      writeFileSync(clone.path('svc.server.json'), blockOf('svc.server.json').replaceAll('/etc/svc', clone.folder))
      writeFileSync(clone.path('big.key'), 'sk-a')
      writeFileSync(clone.path('other.key'), 'sk-b')
      expect(await clone.type('./svc-admin migrate up --data-dir other-data')).toMatchObject({ exitCode: 0 })
      const { exitCode, stdout, stderr } = await clone.type(
        './svc-admin engines list --local --data-dir other-data --json',
      )
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
      expect(stdout).toContain('big')
      await clone.type('rm svc.server.json')
    },
    PATIENCE_MS,
  )

  test(
    'draws, writes and reads rules on threads and in processes, which the compiled server starts too',
    async () => {
      expect(await clone.type('ls node_modules/.cache/svc/*/serve.js.jsc')).toMatchObject({ exitCode: 0 })
      const orders = {
        images: { prompt: 'A red poster that says Hello' },
        documents: { prompt: '| quarter | sum |\n|---|---|\n| Q1 | 1 |', format: 'pdf' },
        'routing-preferences': { name: 'orders', rules: [{ pattern: '(?<=order )\\d+(?!x)', target_mode: 'think' }] },
      }
      for (const [path, input] of Object.entries(orders)) {
        const { status } = await ask(path, input)
        expect({ path, status }).toEqual({ path, status: path === 'routing-preferences' ? 201 : 200 })
      }
    },
    PATIENCE_MS,
  )

  test(
    'backs up, restores, verifies',
    async () => {
      expect(await clone.type('./svc-admin backup create --out saved')).toMatchObject({ exitCode: 0 })
      mkdirSync(clone.path('restored'), { mode: 0o700 })
      copyFileSync(clone.path('saved/svc.db'), clone.path('restored/svc.db'))
      copyFileSync(clone.path('data/secrets.json'), clone.path('restored/secrets.json'))
      expect(await clone.type('./svc-admin verify --data-dir restored')).toMatchObject({ exitCode: 0 })
      expect(await clone.type('./svc-admin verify')).toMatchObject({ exitCode: 0 })
    },
    PATIENCE_MS,
  )

  test(
    'makes the first key of a production server, and the credit that its calls need',
    async () => {
      const elsewhere = 'export SVC_DATA_DIR=production\n'
      // The first start makes the data folder; it wants a public URL and engines.
      const created = `${elsewhere}./svc-admin migrate up\n`
      const { exitCode, stdout } = await clone.type(created + blockOf('first-key'))
      expect({ exitCode, key: /^svc_sk_live_\w+$/m.test(stdout) }).toEqual({ exitCode: 0, key: true })
      const balance = await clone.type(`${elsewhere}./svc-admin credits balance main --json`)
      expect(JSON.parse(balance.stdout).available_cents).toBe(5_000)
    },
    PATIENCE_MS,
  )

  test(
    'stops on SIGTERM with exit 0, and its log never held the key',
    async () => {
      process.kill(JSON.parse((await clone.type('./svc-admin status --json')).stdout).pid, 'SIGTERM')
      expect(await server.exited).toBe(0)
      const log = await server.output()
      expect(log).toContain('First key written to data/dev-key (mode 0600)')
      expect(log).not.toContain(clone.read('data/dev-key').trim())
      expect(log).toMatch(/Setting up svc\. .+\n {2}installing packages\n {2}compiling [\s\S]+\nSet up in \d+ s\.\n/)
      expect(log).toContain(`\nOpen ${clone.url} in your browser.\n`)
    },
    PATIENCE_MS,
  )

  test(
    'connects a real engine',
    async () => {
      const upstream = await startUpstream({ text: 'Said by the real engine.' })
      server = await clone.serve(blockOf('engine').replace('http://127.0.0.1:8080/v1', upstream.url))
      expect((await clone.type('./svc-admin try "Who are you?"')).stdout.trim()).toBe('Said by the real engine.')
      expect(upstream.calls.at(-1)!.body.model).toBe('my-model')
      const planned = await ask('completions', { prompt: '[[plan:code_execute{"code":"6 * 7"}]]', tools: [TOOL] })
      expect(planned.body.tools_used).toMatchObject([
        { name: 'code_execute', status: 'success', result: { value: 42 } },
      ])
      server.end()
      await upstream.stop()
    },
    PATIENCE_MS,
  )

  test('has no marked block that nobody runs', () => {
    const own = ['start', ...PROGRAMS, 'mcp.json', 'engine', 'svc.server.json', 'first-key']
    // The last two are typed in restore-postgres.test.ts.
    const run = [...own, ...Object.keys(SEEN), 'dump', 'restore']
    expect(BLOCKS.map(({ name }) => name).sort()).toEqual(run.sort())
  })
})
