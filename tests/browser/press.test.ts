import { describe, expect, test } from 'bun:test'
import { createBrowsingWorld, hasChromium, type Session, serveSite, startSession } from './support'

const html = (body: string): string => `<!doctype html><meta charset="utf-8"><title>kinds</title><script>
function hit(x) { document.title = x }</script><body>${body}</body>`

/** Things of other kinds that a person can see and press; each says its name in the title when it is pressed. */
const KINDS: Record<string, [name: string, element: string]> = {
  'listener of a script': [
    'Opening times',
    '<div id="s1">Opening times</div><script>s1.addEventListener("click", () => hit("Opening times"))</script>',
  ],
  'mouse down': [
    'Press and hold',
    '<div id="s2">Press and hold</div><script>s2.onmousedown = () => hit("Press and hold")</script>',
  ],
  'pointer cursor, heard further up': [
    'Far handler',
    '<p style="cursor:pointer">Far handler</p><script>document.addEventListener("click", (e) => { if (e.target.textContent === "Far handler") hit("Far handler") })</script>',
  ],
  'item of a list that hears': [
    'Oats',
    '<ul id="l1"><li>Rye</li><li>Oats</li></ul><script>l1.addEventListener("click", (e) => hit(e.target.textContent))</script>',
  ],
  'option of a custom list': [
    'Size large',
    '<div role="listbox" tabindex="0"><div role="option" onclick="hit(\'Size small\')">Size small</div><div role="option" onclick="hit(\'Size large\')">Size large</div></div>',
  ],
  'menu item': [
    'Rename file',
    '<div role="menu"><div role="menuitem" onclick="hit(\'Rename file\')">Rename file</div></div>',
  ],
  'tree item': ['Folder two', '<ul role="tree"><li role="treeitem" onclick="hit(\'Folder two\')">Folder two</li></ul>'],
  'role link without focus': ['Terms apply', '<span role="link" onclick="hit(\'Terms apply\')">Terms apply</span>'],
  'link without href': ['Skip ahead', '<a onclick="hit(\'Skip ahead\')">Skip ahead</a>'],
  'label of a hidden box': [
    'Newsletter please',
    '<label><input type="checkbox" style="display:none" onchange="hit(\'Newsletter please\')"><span>Newsletter please</span></label>',
  ],
  'label for a hidden radio': [
    'By night train',
    '<input type="radio" id="r1" hidden onchange="hit(\'By night train\')"><label for="r1">By night train</label>',
  ],
  summary: [
    'More about us',
    '<details ontoggle="hit(\'More about us\')"><summary>More about us</summary>text</details>',
  ],
  'svg button': [
    'Zoom in',
    '<svg width="30" height="30" onclick="hit(\'Zoom in\')"><title>Zoom in</title><rect width="30" height="30"/></svg>',
  ],
  'icon with a label': [
    'Share this',
    '<i aria-label="Share this" onclick="hit(\'Share this\')" style="display:inline-block;width:20px;height:20px;background:red"></i>',
  ],
  picture: ['Town map', '<img alt="Town map" width="20" height="20" onclick="hit(\'Town map\')">'],
  'table row': [
    'Order seven',
    '<table><tr style="cursor:pointer" onclick="hit(\'Order seven\')"><td>Order seven</td><td></td></tr></table>',
  ],
  'heading that opens': ['Delivery terms', '<h3 onclick="hit(\'Delivery terms\')">Delivery terms</h3>'],
  'part of a button': [
    'Close tab',
    '<div role="tab" tabindex="0">Draft <span aria-label="Close tab" onclick="hit(\'Close tab\')">x</span></div>',
  ],
  'hidden from readers only': [
    'Seen by eyes',
    '<div aria-hidden="true" onclick="hit(\'Seen by eyes\')">Seen by eyes</div>',
  ],
  'in a closed shadow root': [
    'Shadow press',
    '<x-closed></x-closed><script>customElements.define("x-closed", class extends HTMLElement { constructor() { super(); const s = this.attachShadow({ mode: "closed" }); s.innerHTML = "<div>Shadow press</div>"; s.firstChild.addEventListener("click", () => hit("Shadow press")) } })</script>',
  ],
  'custom element that hears': [
    'Slotted press',
    '<x-host>Slotted press</x-host><script>customElements.define("x-host", class extends HTMLElement { constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = "<b><slot></slot></b>"; this.addEventListener("click", () => hit("Slotted press")) } })</script>',
  ],
  'in a frame': [
    'Frame press',
    '<iframe srcdoc="<div onclick=&quot;top.hit(\'Frame press\')&quot;>Frame press</div>"></iframe>',
  ],
}

const OUT = `<button disabled onclick="hit('Off')">Off button</button><div aria-disabled="true" onclick="hit('Off')">Off by word</div>
<div role="listbox" aria-disabled="true"><div role="option" onclick="hit('Off')">Off in a list</div></div>
<fieldset disabled><label style="cursor:pointer"><input type="checkbox" style="display:none">Off in a group</label></fieldset>
<label style="cursor:pointer"><input type="checkbox" disabled style="display:none">Off label</label>
<div hidden onclick="hit('Off')">Hidden one</div><div style="visibility:hidden" onclick="hit('Off')">Hidden two</div>
<div style="opacity:0"><span onclick="hit('Off')">Hidden three</span></div><div style="pointer-events:none" onclick="hit('Off')">Hidden four</div>
<div inert><span onclick="hit('Off')">Inert one</span></div><details><summary>Folded</summary><p onclick="hit('Off')">Hidden five</p></details>
<p>Only a text</p><button>Kept button</button>`

describe.skipIf(!hasChromium)('whatever a person can see and press', async () => {
  const hits: string[] = []
  const file = (name: string) => Bun.file(new URL(`./pages/${name}`, import.meta.url))
  const site = serveSite({
    '/press.html': await file('press.html').text(),
    '/hit': (request) => {
      hits.push(new URL(request.url).searchParams.get('x')!)
      return new Response('ok')
    },
    '/kinds': html(
      Object.values(KINDS)
        .map(([, element]) => element)
        .join('\n'),
    ),
    '/out': html(OUT),
    '/modal': html(
      `<div onclick="hit('behind')">Behind it</div><dialog id="d"><p onclick="hit('front')">In front</p></dialog><script>d.showModal()</script>`,
    ),
    '/write': html(`<div contenteditable aria-label="Notes" oninput="hit(this.textContent)">old</div>
<label><input type="checkbox" style="display:none" onchange="hit('news ' + this.checked)">Send news</label>
<div role="checkbox" aria-checked="true" onclick="hit('toggled')">Dark colours</div>`),
    '/cards':
      html(`${['Red', 'Blue'].map((word) => `<div><h3>${word} room</h3><p>12 beds</p><span onclick="hit('${word}')">Reserve</span></div>`).join('')}
<div style="cursor:pointer" onclick="hit('card')"><b>Green room</b><p>With a view of the sea.</p><button onclick="event.stopPropagation();hit('buy')">Buy</button></div>
<main onclick="1"><p>${'A long text of a page, in which a unicorn stands. '.repeat(9)}</p></main>`),
  })
  const world = await createBrowsingWorld()
  const session: Session = await startSession(await world.person(), { keep_alive: true }, true)
  const listed = async (): Promise<string[]> =>
    (await session.observe()).map(({ description }: { description: string }) => description)
  const titleAfter = async (instruction: string): Promise<[string, string]> => {
    const { status, result } = await session.act(instruction)
    const title = await world.app.container.browser.host
      .find(session.id as never)!
      .live.page()
      .title()
    return [status === 'success' ? 'success' : result.message, title]
  }

  test('the page of the cases: named, listed and pressed', async () => {
    await session.go(site.url('/press.html'))
    expect(await listed()).toEqual([
      'Bag',
      'Small bag',
      'Large bag',
      'Opening hours',
      'Reserve a bed',
      'Skip the tour',
      'Download the price list',
      'Send',
    ])
    for (const name of ['Large bag', 'Opening hours', 'Reserve a bed', 'Skip the tour', 'Send'])
      expect((await session.act(`click ${name}`)).status).toBe('success')
    expect(hits).toEqual(['large bag', 'opening hours', 'reserve', 'skip', 'send'])
  })

  test('things of all kinds are listed once, and do what they are for', async () => {
    await session.go(site.url('/kinds'))
    const all = await listed()
    for (const [kind, [name]] of Object.entries(KINDS)) {
      expect({ kind, all: all.filter((one) => one === name).length }).toEqual({ kind, all: 1 })
      expect([kind, ...(await titleAfter(`click ${name}`))]).toEqual([kind, 'success', name])
    }
  })

  test('what is hidden, disabled, inert or no more than a text is not listed', async () => {
    await session.go(site.url('/out'))
    expect(await listed()).toEqual(['Folded', 'Kept button'])
    expect((await session.act('click Off by word')).status).toBe('error')
  })

  test('what is behind a modal dialog is not listed', async () => {
    await session.go(site.url('/modal'))
    expect(await listed()).toEqual(['In front'])
  })

  test('editable text is written in, and a label stands for its hidden box', async () => {
    await session.go(site.url('/write'))
    expect(await titleAfter('type new words in Notes')).toEqual(['success', 'new words'])
    expect(await titleAfter('check Send news')).toEqual(['success', 'news true'])
    expect(await titleAfter('check Send news')).toEqual(['success', 'news true'])
    expect(await titleAfter('uncheck Dark colours')).toEqual(['success', 'toggled'])
  })

  test('of several the place tells which, and a card is pressed beside its button', async () => {
    await session.go(site.url('/cards'))
    expect(await titleAfter('click Reserve for Blue room')).toEqual(['success', 'Blue'])
    expect(await titleAfter('click Green room')).toEqual(['success', 'card'])
    expect(await titleAfter('click Buy')).toEqual(['success', 'buy'])
    expect((await session.act('click the unicorn')).status).toBe('error')
  })
})
