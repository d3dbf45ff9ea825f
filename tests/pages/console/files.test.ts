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

  test('the gallery shows small pictures, and what is no picture by its kind', async () => {
    const { status } = await person.send('POST', 'images', { prompt: 'A lamp on a table' })
    expect(status).toBeLessThan(300)
    await person.send('POST', 'documents', { prompt: '# Rows\n\nOne.', format: 'csv' })
    const { page, problems } = await open('/me/files')
    await press(page, 'Gallery')
    await page.waitForFunction(() => (document.querySelector('.gallery img') as HTMLImageElement | null)?.naturalWidth)
    expect(page.url()).toContain('view=gallery')
    expect(await wrongIn(page, 'files-gallery')).toEqual([])
    await page.setViewport({ width: 1280, height: 800 })
    for (const key of ['j', 'j', 'x'] as const) await page.keyboard.press(key)
    await sees(page, '1 row marked')
    expect(await page.$$eval('.gallery .mark-box', (all) => all.map((it) => it.matches(':checked')))).toEqual([
      false,
      true,
    ])
    await page.click('.gallery a')
    await sees(page, 'The link works until')
    expect(problems).toEqual([])
    await page.close()
    for (const { id } of (await person.send('GET', 'artifacts')).body.artifacts)
      await person.send('DELETE', `artifacts/${id}`)
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
