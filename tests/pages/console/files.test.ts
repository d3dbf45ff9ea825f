import { expect, test } from 'bun:test'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, wrongIn } from './support/console'

inChromium('the files of the console', async () => {
  const { open, person } = await createConsole()

  test('before there is a file, a sentence says what belongs there', async () => {
    const { page, problems } = await open('/me/files')
    await sees(page, 'No files yet.')
    expect(await wrongIn(page, 'files-empty')).toEqual([])
    expect(problems).toEqual([])
  })

  test('a file is listed, found by its name, looked at and deleted', async () => {
    const made = await person.send('POST', 'documents', { prompt: 'A page about queues', format: 'pdf' })
    expect(made.status).toBeLessThan(300)
    const { page, problems } = await open('/me/files')
    await sees(page, 'A page about queues')
    expect(await wrongIn(page, 'files')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    const { id } = (await person.send('GET', 'artifacts')).body.artifacts[0]
    await page.goto(`${new URL(page.url()).origin}/console/me/files/${id}`)
    await sees(page, 'The link works until')
    expect(await wrongIn(page, 'file')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    expect(problems).toEqual([])
    // The viewer of the browser reads files of its own.
    await press(page, 'Show the document')
    await page.waitForSelector('iframe[title="A page about queues"]')
    await press(page, 'Delete…')
    await press(page, 'Delete')
    await sees(page, 'No files yet.')
  })
})
