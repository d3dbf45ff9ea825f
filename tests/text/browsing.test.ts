import { describe, expect, test } from 'bun:test'
import { readBrowsing } from '../../src/text'

const act = (instruction: string) => ({ tool: 'browser_act', arguments: { instruction } })
const extract = (instruction: string) => ({ tool: 'browser_extract', arguments: { instruction } })
const navigate = (url: string) => ({ tool: 'browser_navigate', arguments: { url } })
const picture = { tool: 'browser_screenshot', arguments: {} }

describe('what a request asks of a browser', () => {
  test.each([
    ['Click Add to cart in the browser', [act('Click Add to cart')]],
    ['click "Sign in, and go"', [act('click "Sign in, and go"')]],
    ['Please type 5 in Quantity and click Add to cart', [act('type 5 in Quantity'), act('click Add to cart')]],
    ['Open https://shop.example/cart', [navigate('https://shop.example/cart')]],
    ['go to shop.example and then click Buy', [navigate('https://shop.example'), act('click Buy')]],
    ['On it, in the browser: extract every price', null],
    ['Extract every price on this page', [extract('Extract every price')]],
    ['In the browser, click Buy', [act('click Buy')]],
    ['What is the title of this page?', [extract('What is the title')]],
    ['Take a screenshot', [picture]],
    ['Click Buy, then take a full-page screenshot', [act('Click Buy'), { ...picture, arguments: { full_page: true } }]],
    ['scroll down and then go back', [act('scroll down'), act('go back')]],
    ['Which buttons are on this page?', [{ tool: 'browser_observe', arguments: { instruction: 'Which buttons are' } }]],
  ])('%s', (prompt, asks) => {
    expect(readBrowsing(prompt)).toEqual(asks as never)
  })

  test.each([
    'Write a poem about the sea',
    'What is the capital of France?',
    'Write a function that clicks a button',
    'Open the discussion with a joke',
    'Check the facts in this paragraph',
    'Read me a story',
    'List three colours',
    'Put the milk in the fridge, then tell me a joke',
    'Click Buy and write a poem about it that rhymes with orange, nobody knows why',
    'Take a picture of a cat',
    '',
  ])('is nothing: %s', (prompt) => {
    expect(readBrowsing(prompt)).toBeNull()
  })

  test('is read in time linear in its length', () => {
    const started = performance.now()
    for (const piece of ['click and ', ', ', '⟦0⟧ ', '" ', 'fill in with ', ' in the browser', 'type in '])
      readBrowsing(piece.repeat(2_000).slice(0, 2_000))
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})
