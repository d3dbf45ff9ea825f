import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { press, sees, write } from '../pages/console/support/console'
import { inChromium, newPage } from '../pages/support/chromium'
import { cleanEnv, startServerProcess } from '../support/server-process'
import { temporaryFolder } from '../support/temporary-folder'

const dataDir = join(temporaryFolder('svc-first-visit-'), 'data')

inChromium('the first visit', () => {
  test('leads from an empty folder to the first answer in less than a minute', async () => {
    const began = performance.now()
    const server = await startServerProcess({ dataDir })
    const admin = Bun.spawn(['./svc-admin', 'open', 'console', '--print', '--json'], {
      env: cleanEnv({ SVC_DATA_DIR: dataDir }),
    })
    const page = await newPage({ width: 1280 })
    const { url } = await new Response(admin.stdout).json()
    await page.goto(url)
    await press(page, 'Sign in')
    await press(page, 'Playground', 'link')
    await write(page, 'Prompt', 'Count to three')
    await page.keyboard.press('Enter')
    await sees(page, 'One, two, three.')
    expect(performance.now() - began).toBeLessThan(60_000)
    expect(await server.stop()).toBe(0)
  })
})
