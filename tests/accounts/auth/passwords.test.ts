import { describe, expect, test } from 'bun:test'
import { createPasswords } from '../../../src/accounts'
import { DECOY } from '../../../src/accounts/auth/passwords'

const passwords = createPasswords()
const parameters = (hash: string) => hash.split('$').slice(1, 4)

describe('a password', () => {
  test('is stored as argon2id and recognised however it is composed', async () => {
    const hash = await passwords.hash('caf\u00e9 au lait')
    expect(hash).toStartWith('$argon2id$')
    expect(await passwords.verify('cafe\u0301 au lait', hash)).toBe(true)
    expect(await passwords.verify('cafe au lait', hash)).toBe(false)
  })

  test('of nobody is never right, and costs what a real one costs', async () => {
    expect(await passwords.verify('anything', null)).toBe(false)
    expect(parameters(DECOY)).toEqual(parameters(await passwords.hash('x')))
  })

  test('waits its turn, and is turned away when too many wait', async () => {
    const narrow = createPasswords({ parallel: 1, maxWaiting: 2 })
    const tries = Array.from({ length: 5 }, () => narrow.verify('x', null).catch((error: Error) => error))
    const answers = await Promise.all(tries)
    const turnedAway = answers.filter((answer) => answer !== false)
    expect(answers.length - turnedAway.length).toBe(3)
    expect(turnedAway).toHaveLength(2)
    expect(turnedAway[0]).toMatchObject({ code: 'service_unavailable', retryAfterS: 2 })
  })
})
