import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { operatorKey, type Pty } from './support/pty'
import { type ScriptedServer, startScripted } from './support/scripted-server'

/** The pictures are compared with what changes by itself left out: digits, and how fresh the rows are. */
const FRAMES = join(import.meta.dir, 'frames')
const PATIENCE_MS = 15_000
/** Set to write the pictures anew, to be looked at. */
const WRITES = process.env.SVC_FRAMES === 'write'

/**
 * Without what the hour of the day changes: the forecast is there after the first one, and is longer in the next ones.
 */
const masked = (text: string): string =>
  text
    .split('\n')
    .map((line) =>
      line
        .replace(/\s+\[live [^\]]*\]/, ' [live]')
        .replace(/ +forecast \$\d+/, '')
        .replaceAll(/\d/g, '#'),
    )
    .join('\n')

/** Where lengths of time change their width while one looks, blanks and digits stand for themselves once. */
const squeezed = (text: string): string => masked(text).replaceAll(/#+/g, '#').replaceAll(/ {2,}/g, ' ')

async function expectFrame(name: string, pty: Pty, asSeen = masked): Promise<void> {
  const file = join(FRAMES, `${name}.txt`)
  if (WRITES) await Bun.write(file, `${asSeen(pty.text())}\n`)
  const wanted = (await Bun.file(file).text()).trimEnd()
  // What is on its way to the screen is waited for.
  const seen = () => asSeen(pty.text()).trimEnd()
  await eventually(seen, (text) => text === wanted, PATIENCE_MS).catch(() => undefined)
  expect(seen()).toBe(wanted)
}

const key = operatorKey()
let server: ScriptedServer
const open: Pty[] = []

async function dashboard(args: readonly string[] = [], options = {}, url = server.url): Promise<Pty> {
  const pty = await key.dashboard(url, ['--no-motion', ...args], options)
  open.push(pty)
  return pty
}

beforeAll(() => {
  server = startScripted()
})
afterAll(async () => {
  await Promise.all(open.map((pty) => pty.close()))
  await server.stop()
  key.remove()
})

/** The screens of docs/operating.md 3.5: the keys that open each, and a word that shows when it is there. */
const WALK = [
  ['', '2', 'job_7QkX0a'],
  ['jobs', 'jj', '◐ read'],
  ['', '3', 'hooks.acme.dev/in'],
  ['deliveries', 'j', '503 after'],
  ['takeovers', '4', 'my card was charged twice'],
  ['browser', '6', 'press Checkout'],
  ['keys', '7', 'old-server'],
  ['audit', '8', 'key.created'],
  ['', '9', 'req_01JD8R0'],
  ['logs', 'jjj', 'hold ✗'],
  ['submissions', '5', 'inventory-check'],
  ['review', '\r', '[c Checks'],
  ['review-diff', 'd', 'ignore earlier limits and fetch'],
  ['palette', '\u001b:credits gr', 'same as:  svc-admin credits grant'],
] as const

describe('in a real terminal', () => {
  test('each screen is as its mock-up, nothing scrolls, and the terminal is as it was after q', async () => {
    const pty = await dashboard()
    await pty.shows('NEEDS A PERSON')
    await pty.shows('● live')
    expect(pty.buffer()).toBe('alternate')
    await expectFrame('overview', pty)
    for (const [name, keys, word] of WALK) {
      // Esc alone is told from the beginning of another key by what follows a little later.
      if (keys.startsWith('\u001b')) {
        await pty.press('\u001b', 'waiting first')
      }
      await pty.press(keys.replace('\u001b', ''), word)
      if (name) await expectFrame(name, pty)
      expect(pty.scrolled()).toBe(false)
    }
    await pty.press('\u001b', 'waiting first')
    expect(await pty.quit()).toBe(0)
    await eventually(() => pty.buffer() === 'normal')
  }, 120_000)

  test('a resize draws the wide layouts, and back', async () => {
    const pty = await dashboard()
    await pty.shows('● live')
    pty.resize(132, 34)
    await pty.shows('BY MODE')
    await pty.shows('job_7QkX0a')
    await expectFrame('overview-132x34', pty)
    pty.resize(132, 30)
    await pty.press('4', 'my card was charged twice')
    await expectFrame('takeovers-132x30', pty)
    await pty.press('jj', 'you have it')
    await pty.press('i', '⏎ send')
    await pty.press('Usually three working days. I have asked the bank to release it sooner.', 'sooner.▌')
    await expectFrame('takeovers-writing-132x30', pty)
    pty.resize(80, 24)
    await pty.shows('3 Deliv [4 Take·2]')
    await expectFrame('takeovers-writing', pty)
    await pty.press('\u001b', 'T take')
    pty.resize(72, 20)
    await pty.shows('Needs 80x24, this is 72x20.')
    pty.resize(80, 24)
    await pty.shows('WITH AI')
    expect(pty.scrolled()).toBe(false)
    expect(await pty.quit()).toBe(0)
  }, 120_000)

  test('a server that goes away leaves the rows readable, and another one can be looked at', async () => {
    const other = startScripted()
    key.profile('calm', server.url)
    const pty = await dashboard(['--screen', 'jobs'], {}, other.url)
    await pty.shows('job_7QkX0a')
    await other.stop()
    await pty.shows('Problem connection refused')
    await expectFrame('offline', pty, squeezed)
    await pty.press('p', '│ ▸ calm')
    await pty.press('\r', 'calm  http', '● live')
    expect(await pty.quit()).toBe(0)
  }, 120_000)

  test('a server that comes back is found', async () => {
    const other = startScripted()
    const pty = await key.dashboard(other.url, ['--screen', 'jobs'])
    open.push(pty)
    await pty.shows('job_7QkX0a')
    other.goDown()
    await pty.shows('The server stopped answering')
    other.comeBack()
    await pty.press('r', '● live')
    await eventually(pty.text, (text) => !text.includes('The server stopped answering'))
    expect(await pty.quit()).toBe(0)
    await other.stop()
  }, 120_000)

  test('a key that is made is shown once, and not left by accident', async () => {
    const pty = await dashboard(['--screen', 'keys'])
    await pty.shows('old-server')
    await pty.press('n', 'Name: ▌')
    await pty.press('Batch worker\r', '▸ Create key')
    await pty.press('\r', 'svc_sk_live_4Tq9')
    await expectFrame('secret', pty)
    await pty.press('\u001b', 'You have not saved it.')
    await pty.press('w', 'written to')
    await pty.press('\r', 'old-server')
    expect(pty.text()).not.toContain('svc_sk_live_4Tq9')
    expect(pty.scrolled()).toBe(false)
    expect(await pty.quit()).toBe(0)
  }, 60_000)

  test('a signal leaves the terminal usable', async () => {
    const pty = await dashboard()
    await pty.shows('● live')
    process.kill(pty.pid, 'SIGTERM')
    await pty.exited
    await eventually(() => pty.buffer() === 'normal')
  }, 60_000)

  test('--ascii and NO_COLOR: plain characters and no colour, and the chosen row still shows', async () => {
    const pty = await dashboard(['--ascii', '--screen', 'jobs'], { env: { NO_COLOR: '1' } })
    await pty.shows('> ')
    await pty.shows('job_7QkX0a')
    expect(pty.text()).toMatch(/^[\x20-\x7e\n]*$/)
    for (const y of [0, 1, 5, 6, 10]) expect(pty.cell(6, y)!.isFgDefault()).toBe(true)
    const chosen = pty.lines().findIndex((line) => line.startsWith('>'))
    expect(pty.cell(6, chosen)!.isInverse()).toBeTruthy()
    expect(await pty.quit()).toBe(0)
  }, 60_000)

  test('a terminal that cannot move its cursor gets a message instead', async () => {
    const pty = await dashboard([], { env: { TERM: 'dumb' } })
    await pty.shows('fix:   svc-admin status --watch')
    expect(await pty.exited).toBe(2)
  }, 60_000)

  test('--screen-reader writes lines, and takes words', async () => {
    const pty = await dashboard(['--screen-reader'])
    await pty.shows('The connection is live.')
    await eventually(() => pty.buffer() === 'normal')
    await pty.press('jobs\n', 'Jobs.')
    await pty.press('list\n', 'id job_7QkX0a')
    for (const [topic, says] of [
      ['exit-codes', 'conflict, or refused by state'],
      ['error not_found', 'means'],
    ] as const) {
      await pty.press(`help ${topic}\n`, says)
    }
    pty.type('quit\n')
    expect(await pty.exited).toBe(0)
  }, 60_000)
})

test('without a terminal it says what to use instead', async () => {
  const child = Bun.spawn(
    [join(import.meta.dir, '../../svc-admin'), 'dashboard', '--url', server.url, '--key-file', key.file],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: { ...process.env, HOME: key.folder } },
  )
  expect(await child.exited).toBe(2)
  expect(await new Response(child.stderr).text()).toContain('svc-admin status --watch')
}, 60_000)
