import { describe, expect, test } from 'bun:test'
import { MODEL_FILE, taggedIn } from '../../src/text/names/tagger'
import { writersTexts } from '../../src/training/names/learn-names'
import { f1Of } from '../guardrails/evaluate'
import { effortOf } from '../support/effort'
import { taggedLeftOut } from './tagged-left-out'

const found = (text: string): string[] => taggedIn(text).map(({ start, end }) => text.slice(start, end))

describe('names of persons and addresses', () => {
  test.each([
    ['Please call Siobhán Kavanagh back before noon.', ['Siobhán Kavanagh']],
    ['Kind regards,\nTomasz Wiśniewski', ['Tomasz Wiśniewski']],
    ['Bonjour, je suis Amélie Fournier et mon mari est Karim.', ['Amélie Fournier', 'Karim']],
    ['Lieferung an Jonas Weber, Gartenstraße 14, 79098 Freiburg.', ['Jonas Weber', 'Gartenstraße 14, 79098 Freiburg']],
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
    expect(texts.length).toBeGreaterThanOrEqual(2_500)
    const { name, address } = taggedLeftOut(texts, 'p06')
    expect(f1Of(name)).toBeGreaterThanOrEqual(0.7)
    expect(f1Of(address)).toBeGreaterThanOrEqual(0.6)
  })

  test('cost little in four thousand characters, and the model is at most 1.3 MB', async () => {
    const text = 'Dear Ms Keller, please send it to Jan Novák and the others. '.repeat(70).slice(0, 4_096)
    taggedIn(text)
    expect(await effortOf(() => taggedIn(text))).toBeLessThanOrEqual(3)
    expect(Bun.file(MODEL_FILE).size).toBeLessThanOrEqual(1_320_000)
  })
})
