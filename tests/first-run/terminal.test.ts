import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { cleanEnv } from '../support/server-process'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-terminal-')

const dataDir = join(root, 'data')
const CTRL_C = '\x03'

/** Starts the server on a terminal, waits until it says it is ready, presses Ctrl-C, and answers all that was shown. */
async function startAndInterrupt(): Promise<{ shown: string; exitCode: number }> {
  const decoder = new TextDecoder()
  let shown = ''
  const child = Bun.spawn([process.execPath, 'src/main.ts'], {
    env: cleanEnv({ SVC_DATA_DIR: dataDir, SVC_PORT: '0', SVC_ADMIN_AS: './svc-admin', TERM: 'xterm' }),
    terminal: {
      cols: 120,
      rows: 40,
      data: (_terminal: unknown, bytes: Uint8Array) => {
        shown += decoder.decode(bytes, { stream: true })
      },
    },
  })
  await eventually(() => shown.includes('Ctrl-C stops the server') || child.exitCode !== null)
  child.terminal!.write(CTRL_C)
  const exitCode = await child.exited
  child.terminal!.close()
  return { shown, exitCode }
}

test('a terminal shows the first key once, at the first start, and Ctrl-C ends the server in good order', async () => {
  const first = await startAndInterrupt()
  const key = readFileSync(join(dataDir, 'dev-key'), 'utf8').trim()
  expect(first.exitCode).toBe(0)
  expect(first.shown.split(key)).toHaveLength(2)
  expect(first.shown).toContain('Your API key. It is shown only this once:')
  expect(first.shown).toContain('./svc-admin try "Count to five slowly"')

  const second = await startAndInterrupt()
  expect(second.exitCode).toBe(0)
  expect(second.shown).not.toContain(key)
  expect(second.shown).toContain('Your API key is in ')
})
