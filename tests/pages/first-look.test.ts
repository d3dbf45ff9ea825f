import { expect, test } from 'bun:test'
import { frameOf, inChromium, newPage, shows } from './support/chromium'
import { scripted } from './support/scripted'

inChromium('the first look at the chat', () => {
  test('has no ground of its own around it on a light page, also in the dark', async () => {
    const page = await newPage({ dark: true })
    for (const [theme, scheme] of [
      ['auto', 'light dark'],
      ['dark', 'dark'],
      ['light', 'light'],
    ]) {
      await page.goto((await scripted({ config: { appearance: { theme } } })).hostUrl())
      await frameOf(page)
      const frame = (await page.$('iframe'))!
      expect(await frame.evaluate((it) => getComputedStyle(it).colorScheme)).toBe(scheme!)
      const { x, y } = (await frame.boundingBox())!
      const dot = (left: number, top: number) =>
        page.screenshot({ clip: { x: left, y: top, width: 2, height: 2 }, encoding: 'base64' })
      expect({ theme, dot: await dot(x + 1, y + 1) }).toEqual({ theme, dot: await dot(x - 20, y - 20) })
    }
  })

  test('the launcher is there before the script of the chat, and a press on it is kept; nothing moves for who wants that', async () => {
    const { promise: chatScript, resolve: serve } = Promise.withResolvers<void>()
    const site = await scripted({
      config: { appearance: { launcherText: 'Help', primaryColor: '#0b6e4f' } },
      chatScript,
    })
    const page = await newPage()
    // The navigation ends with that of its frames, and this one's script is held back.
    const opened = page.goto(site.hostUrl(), { waitUntil: 'domcontentloaded' })
    const frame = await page.waitForFrame((candidate) => candidate.url().includes('/embed/widget/'))
    const launcher = (await frame.waitForSelector('#launcher', { visible: true }))!
    expect(await launcher.evaluate((it) => [it.textContent, getComputedStyle(it).backgroundColor])).toEqual([
      'Help',
      'rgb(11, 110, 79)',
    ])
    expect(await frame.$('#panel')).toBeNull()
    await launcher.click()
    serve()
    await opened
    await frame.waitForSelector('#panel', { visible: true })
    await shows(frame, '.log', 'Hello. What are you looking for?')
    const motion = () => frame.$eval('#panel', (panel) => getComputedStyle(panel).animationName)
    expect(await motion()).toBe('none')
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'no-preference' }])
    expect(await motion()).toBe('rise')
  })
})
