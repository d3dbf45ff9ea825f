import { expect, test } from 'bun:test'
import { operatorSender } from '../../operators/support'
import { eventually } from '../../support/eventually'
import type { Person } from '../../support/world'
import { inChromium } from '../support/chromium'
import { createConsole, press, sees, wrongIn } from './support/console'

inChromium('rows that are marked', async () => {
  const { open, person, world } = await createConsole()
  for (const name of ['First', 'Second', 'Third']) await person.send('POST', 'keys', { name })
  const statuses = async () => {
    const { body } = await person.send('GET', 'keys')
    return Object.fromEntries(body.keys.map(({ name, status }: Record<string, string>) => [name, status]))
  }

  test('with x or by their boxes, and what all of them offer is done to all of them', async () => {
    const { page, problems } = await open('/me/keys')
    await sees(page, 'Third')
    const marked = () => page.$$eval('.mark-box:checked', (boxes) => boxes.length)
    for (const key of ['j', 'x', 'x', 'x', 'j', 'x'] as const) await page.keyboard.press(key)
    await eventually(marked, (many) => many === 2)
    await sees(page, '2 rows marked')
    expect(await wrongIn(page, 'keys-marked')).toEqual([])
    const names = await page.$$eval('.tr:has(:checked) a', (links) => links.map((link) => link.textContent!))
    // What needs a form is for one row at a time.
    expect(await page.$$eval('.marked button', (all) => all.map((one) => one.textContent))).toEqual([
      'Revoke…',
      'Clear',
    ])
    await press(page, 'Revoke…')
    await sees(page, 'Revoke: 2 rows')
    expect(await page.$eval('.veil', (dialog) => dialog.textContent)).toContain(names[0]!)
    await press(page, 'Revoke')
    await page.waitForFunction(() => !document.querySelector('.marked'))
    const after = await statuses()
    expect(
      Object.keys(after)
        .filter((name) => after[name] === 'revoked')
        .sort(),
    ).toEqual(names.toSorted())
    expect(problems).toEqual([])
    await page.close()
  })

  test('whoever may not do it is not offered it', async () => {
    const boss = await world.person({ ofOrg: true })
    const viewer = await world.person({ ofOrg: false })
    await operatorSender(world)('POST', `orgs/${boss.orgId}/members`, { user: viewer.userId, role: 'viewer' })
    const { slug } = (await boss.send('GET', `orgs/${boss.orgId}`)).body
    const offered = async (who: Person) => {
      const { page } = await open(`/${slug}/team`, {}, who)
      await page.locator(`.tr:has([href$="${who === boss ? viewer.userId : boss.userId}"]) .mark-box`).click()
      await sees(page, '1 row marked')
      return page.$$eval('.marked button', (all) => all.map(({ textContent }) => textContent))
    }
    expect(await offered(boss)).toEqual(['Remove…', 'Clear'])
    expect(await offered(viewer)).toEqual(['Clear'])
  })

  test('each has a menu with the actions of its details, for keys and mouse alike', async () => {
    await person.send('POST', 'keys', { name: 'Menu' })
    const { page, problems } = await open('/me/keys?sort=name')
    await sees(page, 'Menu')
    const items = () => page.$$eval('[role="menuitem"]', (all) => all.map(({ textContent }) => textContent))
    const at = await page.$$eval('.table-body .tr', (rows) =>
      rows.findIndex((row) => row.textContent!.includes('Menu')),
    )
    for (let n = 0; n <= at; n++) await page.keyboard.press('j')
    await page.waitForFunction((n: number) => document.activeElement?.closest(`[data-index="${n}"]`), {}, at)
    await page.keyboard.press('m')
    await eventually(items, ({ length }) => length > 3)
    expect(await items()).toEqual([
      ...['Open', 'Copy its id', 'Copy its link'],
      ...['Change…', 'Set the brand soul…', 'Rotate…', 'Ask for a higher tier…', 'Revoke…'],
    ])
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => !document.querySelector('[role="menu"]'))
    await page.waitForFunction((n: number) => document.activeElement?.closest(`[data-index="${n}"]`), {}, at)
    await press(page, `Actions of row ${at + 1}`)
    await eventually(items, ({ length }) => length > 3)
    expect(await wrongIn(page, 'keys-menu')).toEqual([])
    await press(page, 'Revoke…', 'menuitem')
    await press(page, 'Revoke')
    await eventually(statuses, ({ Menu }) => Menu === 'revoked')
    expect(new URL(page.url()).pathname).toEndWith('/me/keys')
    expect(problems).toEqual([])
    await page.close()
  })

  test('a long list of sessions begins with this one and shows the rest when asked', async () => {
    for (let n = 0; n < 7; n++) await world.signedIn(person)
    const { page } = await open('/me/settings')
    const listed = () => page.$$eval('.plain-list li', (lines) => lines.map(({ textContent }) => textContent!))
    await eventually(listed, ({ length }) => length === 5)
    expect((await listed())[0]).toContain('this one')
    await page.evaluate(() =>
      [...document.querySelectorAll('button')].find((one) => one.textContent!.startsWith('Show all'))!.click(),
    )
    await eventually(listed, ({ length }) => length > 7)
    await page.close()
  })
})
