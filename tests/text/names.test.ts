import { describe, expect, test } from 'bun:test'
import { MODEL_FILE, namesIn } from '../../src/text/names/tagger'
import { writersTexts } from '../../src/text/names/training/learn-names'
import { f1Of } from '../guardrails/evaluate'
import { effortOf } from '../support/effort'
import { namesLeftOut } from './names-left-out'

const found = (text: string): string[] => namesIn(text).map(({ start, end }) => text.slice(start, end))

describe('names of persons', () => {
  test.each([
    ['Please call Siobhán Kavanagh back before noon.', ['Siobhán Kavanagh']],
    ['Kind regards,\nTomasz Wiśniewski', ['Tomasz Wiśniewski']],
    ['Bonjour, je suis Amélie Fournier et mon mari est Karim.', ['Amélie Fournier', 'Karim']],
    ['Alicja Nowak sent the form; Marek Zieliński signed it.', ['Alicja Nowak', 'Marek Zieliński']],
  ])('%s', (text, names) => {
    expect(found(text)).toEqual(names)
  })

  test.each([
    'The report is due on Monday in the Berlin office.',
    'Write a function that sorts a list of numbers.',
    'version 3.2 of the driver fixes the crash',
    '',
    ' \n\t ',
    '😀🏳️‍🌈',
  ])('there is none in %j', (text) => {
    expect(found(text)).toEqual([])
  })

  test('are found in the texts of a writer whom the model never saw', () => {
    const texts = writersTexts()
    expect(texts.length).toBeGreaterThanOrEqual(2_000)
    for (const writer of ['p03', 'p06']) expect(f1Of(namesLeftOut(texts, writer))).toBeGreaterThanOrEqual(0.7)
  })

  test('cost little in four thousand characters, and the model is at most 256 KB', async () => {
    const text = 'Dear Ms Keller, please send it to Jan Novák and the others. '.repeat(70).slice(0, 4_096)
    namesIn(text)
    expect(await effortOf(() => namesIn(text))).toBeLessThanOrEqual(3)
    expect(Bun.file(MODEL_FILE).size).toBeLessThanOrEqual(2 ** 18)
  })
})
