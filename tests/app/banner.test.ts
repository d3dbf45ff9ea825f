import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { banner } from '../../src/app/banner'
import type { RunningApp } from '../../src/app/start'
import { eventually } from '../support/eventually'
import { cleanEnv, startServerProcess } from '../support/server-process'
import { temporaryFolder } from '../support/temporary-folder'
import { startUpstream } from '../support/upstream'

const root = temporaryFolder('svc-banner-')
const upstream = await startUpstream()
afterAll(() => upstream.stop())

const folder = () => join(mkdtempSync(join(root, 'case-')), 'data')

async function textOf(env: Record<string, string>): Promise<string> {
  const server = await startServerProcess({ dataDir: folder(), env })
  // It is healthy before it says so.
  await eventually(() => server.printed().includes('Ctrl-C'))
  expect(await server.stop()).toBe(0)
  const output = await server.output()
  expect(output).toEndWith(
    `Ctrl-C stops the server.\nOpen ${server.url} in your browser.\nTo sign in there, run svc-admin open console.\nStopped.\n`,
  )
  return output.match(/^.* engines .*$/m)![0]
}

describe('the engines line of the start', () => {
  test('names address and model, and says that they answer', async () => {
    const line = await textOf({ SVC_ENGINE_BASE_URL: upstream.url, SVC_ENGINE_MODEL: 'scripted' })
    expect(line).toMatch(new RegExp(`^  ok  engines    ${upstream.url}, model scripted: answers, \\d+ ms$`))
  })

  test('says that nothing listens, and the server starts all the same', async () => {
    const line = await textOf({ SVC_ENGINE_BASE_URL: 'http://127.0.0.1:9/v1', SVC_ENGINE_MODEL: 'mine' })
    expect(line).toBe('  !!  engines    http://127.0.0.1:9/v1, model mine: nothing listens there')
  })

  test('says that a server does not know the model', async () => {
    const line = await textOf({ SVC_ENGINE_BASE_URL: upstream.url, SVC_ENGINE_MODEL: 'mine' })
    expect(line).toBe(`  !!  engines    ${upstream.url}, model mine: answers, and lists no mine`)
  })
})

test('pictures that are drawn here are no text mode, the key of a first run is named, and the page to open', () => {
  const model = { mode: 'auto', makes: 'text', targets: [{ kind: 'compat' }] }
  const saying = (mode: string, devKey: boolean, { url = '', ...more }: { url?: string; publicUrl?: string } = {}) => {
    const engines = {
      hasModel: () => true,
      mapping: () => [model, { mode, makes: mode === 'image' ? 'image' : 'text', targets: [{ kind: 'builtin' }] }],
    }
    const message = { production: true, dataDir: '/data', file: null, databaseUrl: 'postgres://h/d', roles: 'api' }
    const config = { ...message, publicUrl: '', unix: '', ...more }
    const findings = { newSecrets: false, newDatabase: false, migrations: 1, databaseMs: 1 }
    const running = { app: { config, findings, container: { engines } }, socket: '/data/ops.sock', url, devKey }
    return banner(running as unknown as RunningApp, {
      isTty: false,
      columns: 80,
      startedMs: 1,
      upstreams: [],
      link: null,
      unknown: [],
    })
  }
  expect(saying('fast', false)).toContain('built-in engine for the other text modes')
  expect(saying('image', false)).not.toMatch(/built-in|Dev laptop/)
  expect(saying('image', true)).toContain('svc-admin keys revoke "Dev laptop" --reason production')

  const lastLine = (address: Parameters<typeof saying>[2]) => saying('fast', false, address).split('\n').at(-2)
  expect(lastLine({ url: 'http://0.0.0.0:3400' })).toBe('Open http://127.0.0.1:3400 in your browser.')
  expect(lastLine({ url: 'http://[::]:3400' })).toBe('Open http://127.0.0.1:3400 in your browser.')
  expect(lastLine({ url: 'http://10.0.0.1:80', publicUrl: 'https://svc.example/' })).toBe(
    'Open https://svc.example in your browser.',
  )
  expect(lastLine({})).toBe('Ready in 0.0 s. Ctrl-C stops the server.')
})

/** What a start in this folder shows on a terminal; `use` is called while it serves. */
async function onTerminal(env: Record<string, string>, use: (shown: string) => Promise<unknown> = async () => null) {
  const decoder = new TextDecoder()
  let shown = ''
  const child = Bun.spawn([process.execPath, 'src/main.ts'], {
    env: cleanEnv({ SVC_PORT: '0', TERM: 'xterm', ...env }),
    terminal: {
      cols: 60,
      rows: 40,
      data: (_terminal: unknown, bytes: Uint8Array) => {
        shown += decoder.decode(bytes, { stream: true })
      },
    },
  })
  // The page to open comes last.
  await eventually(() => /svc_sl_\w{48}\s|in your browser\.\s/.test(shown) || child.exitCode !== null)
  await use(shown)
  child.kill('SIGTERM')
  await child.exited
  child.terminal!.close()
  return shown
}

test('on a terminal the lines break between words', async () => {
  const lines = (await onTerminal({ SVC_DATA_DIR: folder() })).split(/\r?\n/)
  const at = lines.findIndex((line) => line.startsWith('  ok  engines'))
  expect(lines.slice(at, at + 4)).toEqual([
    '  ok  engines    built-in engine for all text modes: free,',
    '                 instant, not a language model (connect one',
    '                 with SVC_ENGINE_BASE_URL)',
    expect.stringContaining('  ok  seed'),
  ])
})

test('the first start on a terminal shows a link that signs its owner in, once; later starts do not', async () => {
  const env = { SVC_DATA_DIR: folder(), SVC_HOST: '0.0.0.0' }
  const statuses: number[] = []
  const first = await onTerminal(env, async (shown) => {
    // Its address is one that a browser opens, though the server listens on all networks.
    const link = new URL(/http:\/\/127\.0\.0\.1:\d+\/sign-in\/link#svc_sl_\w{48}/.exec(shown)![0])
    for (let n = 0; n < 2; n++) {
      const reply = await fetch(`${link.origin}/api/v1/auth/links/redeem`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: link.hash.slice(1) }),
      })
      statuses.push(reply.status)
      if (n === 0) expect(((await reply.json()) as { user: { email: string } }).user.email).toBe('owner@localhost')
    }
  })
  expect(statuses).toEqual([201, 401])
  expect(first).toContain('The link signs you in once, within 15 minutes:')
  const second = await onTerminal({ ...env, SVC_PROT: '5' })
  expect(second).not.toContain('svc_sl_')
  const words = second.replace(/\s+/g, ' ')
  expect(words).toContain(`Your API key is in ${env.SVC_DATA_DIR}/dev-key.`)
  expect(words).toContain('To sign in there, run svc-admin open console.')
  expect(words).toContain('!! variables SVC_PROT is set, but no setting has this name. Did you mean SVC_PORT?')
  expect(words).toContain('Stopped.')
})
