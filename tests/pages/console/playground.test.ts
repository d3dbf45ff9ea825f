import { expect, test } from 'bun:test'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, write, wrongIn } from './support/console'

inChromium('the playground of the console', async () => {
  const { open } = await createConsole()

  test('a prompt is answered as it comes, with what it took, and the code beside it sends the same', async () => {
    const { page, problems } = await open('/me/playground')
    await sees(page, 'Answers appear here')
    expect(await wrongIn(page, 'playground-empty')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/completions')) sent.push(request.postData() ?? '')
    })
    await write(page, 'Prompt', "What's the time in Lisbon?")
    await page.keyboard.press('Enter')
    await page.waitForSelector('.took b')
    expect(sent).toHaveLength(1)
    const shown = await page.$eval('.code code', (it) => it.textContent ?? '')
    const inCode = /-d '(.*)'$/s.exec(shown)![1]!.replaceAll(`'\\''`, "'")
    expect(JSON.parse(inCode)).toMatchObject({ ...JSON.parse(sent[0]!), conversation: expect.anything() })
    expect(page.url()).not.toContain('Lisbon')
    expect(await wrongIn(page, 'playground')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    await press(page, 'Compare')
    await page.waitForSelector('[aria-label="Column 2"]')
    expect(page.url()).toContain('modes=auto%2Cfast')
    // The next prompt is written at once: the keys do not press Compare again.
    await page.keyboard.type('And in Tokyo?')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.querySelectorAll('.took b').length === 3)
    expect(await wrongIn(page, 'playground-two')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    // The first column has two exchanges and the second one: the second keeps its own.
    await press(page, 'Remove column 1')
    await page.waitForFunction(() => document.querySelectorAll('.took b').length === 1)
    expect(problems).toEqual([])
  })
})
