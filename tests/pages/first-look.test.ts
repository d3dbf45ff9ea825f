import { expect, test } from 'bun:test'
import { inChromium, newPage, shows } from './support/chromium'
import { scripted } from './support/scripted'

inChromium('the first look at the chat', () => {
  test('the launcher is there before the script of the chat, and a press on it is kept; nothing moves for who wants that', async () => {
    const { promise: chatScript, resolve: serve } = Promise.withResolvers<void>()
    const site = await scripted({
      config: { appearance: { launcherText: 'Help', primaryColor: '#0b6e4f' } },
      chatScript,
    })
    const page = await newPage()
    await page.goto(site.hostUrl(), { waitUntil: 'domcontentloaded' })
    const frame = await page.waitForFrame((candidate) => candidate.url().includes('/embed/widget/'))
    const launcher = (await frame.waitForSelector('#launcher', { visible: true }))!
    expect(await launcher.evaluate((it) => [it.textContent, getComputedStyle(it).backgroundColor])).toEqual([
      'Help',
      'rgb(11, 110, 79)',
    ])
    expect(await frame.$('#panel')).toBeNull()
    await launcher.click()
    serve()
    await frame.waitForSelector('#panel', { visible: true })
    await shows(frame, '.log', 'Hello. What are you looking for?')
    const motion = () => frame.$eval('#panel', (panel) => getComputedStyle(panel).animationName)
    expect(await motion()).toBe('none')
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'no-preference' }])
    expect(await motion()).toBe('rise')
  })
})
