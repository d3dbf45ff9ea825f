import { describe, expect, test } from 'bun:test'
import { type BreakerChange, createTargetBreaker } from '../../src/engines/health'
import { fakeClock } from '../support/clock'

/** A breaker whose upstream answers probes as `up` says. */
function open(up = true) {
  const clock = fakeClock()
  const changes: BreakerChange[] = []
  const state = { up, probes: 0 }
  const breaker = createTargetBreaker({
    clock,
    answers: async () => {
      state.probes += 1
      return state.up
    },
    changed: (change) => void changes.push(change),
  })
  const fail = async (...owners: (string | undefined)[]) => {
    for (const owner of owners) breaker.enter(owner)?.failed()
    await Promise.resolve()
  }
  const admits = (owner: string) => {
    const permit = breaker.enter(owner)
    permit?.abandoned()
    return permit !== null
  }
  return { clock, changes, state, breaker, fail, admits }
}

const times = (count: number, owner?: string) => Array.from({ length: count }, () => owner)

describe('what one owner provokes', () => {
  test('opens the breaker for that owner alone, for thirty seconds', async () => {
    const { clock, changes, breaker, fail, admits } = open()
    await fail(...times(4, 'ada'))
    expect(admits('ada')).toBe(true)
    await fail('ada', ...times(20, 'ada'))
    expect(admits('ada')).toBe(false)
    expect(admits('bob')).toBe(true)
    expect(breaker.state()).toBe('closed')
    expect(breaker.leftMs('ada')).toBe(30_000)
    expect(breaker.leftMs('bob')).toBe(0)
    expect(changes).toEqual([{ state: 'open', owner: 'ada', why: 'calls of one owner failed' }])
    clock.advance(29_999)
    expect(admits('ada')).toBe(false)
    clock.advance(1)
    expect(admits('ada')).toBe(true)
    breaker.enter('ada')!.succeeded()
    expect(changes.at(-1)).toMatchObject({ state: 'closed', owner: 'ada' })
  })

  test('opens it for all when a probe fails too', async () => {
    const { breaker, state, fail, admits } = open(false)
    await fail(...times(5, 'ada'))
    expect(state.probes).toBe(1)
    expect({ state: breaker.state(), admits: admits('bob') }).toEqual({ state: 'open', admits: false })
    expect(breaker.leftMs('bob')).toBe(30_000)
  })

  test('is probed once in five seconds, however much fails', async () => {
    const { clock, state, fail } = open()
    await fail(...times(50))
    expect(state.probes).toBe(1)
    clock.advance(5_000)
    await fail(...times(50))
    expect(state.probes).toBe(2)
  })

  test('and what another owner gets since are two things', async () => {
    const { breaker, fail } = open()
    await fail(...times(5, 'ada'))
    breaker.enter('bob')!.succeeded()
    await fail('bob')
    expect(breaker.state()).toBe('closed')
  })
})

describe('what two owners see', () => {
  test('opens it for all', async () => {
    const { clock, breaker, changes, state, fail, admits } = open()
    await fail('ada', 'bob', 'ada', 'bob')
    expect(breaker.state()).toBe('closed')
    await fail('ada')
    expect(admits('ada')).toBe(false)
    expect(admits('bob')).toBe(false)
    expect(admits('eve')).toBe(false)
    expect(changes).toEqual([{ state: 'open', owner: null, why: '5 calls of 2 owners failed' }])
    expect(state.probes).toBe(0)
    clock.advance(12_000)
    expect(breaker.leftMs('eve')).toBe(18_000)
  })

  test('does not add up beyond a minute, nor past a success', async () => {
    const { clock, breaker, fail } = open()
    await fail('ada', 'bob', 'ada', 'bob')
    breaker.enter('eve')!.succeeded()
    await fail('ada', 'bob')
    clock.advance(60_000)
    await fail('ada', 'bob', 'eve')
    expect(breaker.state()).toBe('closed')
  })

  test('nor do those of one owner', async () => {
    const { clock, fail, admits, breaker } = open()
    for (let time = 0; time < 20; time++) {
      await fail('ada')
      clock.advance(16_000)
    }
    await fail(...times(1, 'ada'))
    breaker.enter('ada')!.succeeded()
    await fail(...times(4, 'ada'))
    expect(admits('ada')).toBe(true)
  })
})

describe('half open', () => {
  const halfOpen = async () => {
    const made = open()
    await made.fail('ada', 'bob', 'ada', 'bob', 'ada')
    made.clock.advance(30_000)
    return made
  }

  test('one call at a time tries, and its success closes it', async () => {
    const { breaker, changes } = await halfOpen()
    const trial = breaker.enter('eve')!
    expect({ eve: breaker.enter('eve'), bob: breaker.enter('bob') }).toEqual({ eve: null, bob: null })
    trial.succeeded()
    expect(breaker.state()).toBe('closed')
    expect(changes.map(({ state }) => state)).toEqual(['open', 'half-open', 'closed'])
  })

  test('a first byte closes the breaker while the answer continues', async () => {
    const { breaker } = await halfOpen()
    const trial = breaker.enter('eve')!
    trial.responded()
    expect(breaker.enter('bob')).not.toBeNull()
    trial.failed()
    expect(breaker.state()).toBe('closed')
  })

  test('a caller who leaves makes room for the next', async () => {
    const { breaker } = await halfOpen()
    breaker.enter('eve')!.abandoned()
    expect(breaker.enter('eve')).not.toBeNull()
  })

  test('a call that says nothing for five seconds does, too', async () => {
    const { clock, breaker } = await halfOpen()
    breaker.enter('eve')
    clock.advance(5_000)
    expect(breaker.enter('bob')).not.toBeNull()
  })

  test('one owner whose call fails does not keep the others out', async () => {
    const { breaker, fail, admits } = await halfOpen()
    await fail('eve')
    expect(breaker.state()).toBe('half-open')
    expect(admits('eve')).toBe(false)
    expect(admits('bob')).toBe(true)
    await fail('bob')
    expect(breaker.state()).toBe('open')
  })

  test('nor opens it again, unless the probe fails too', async () => {
    const { breaker, state, fail } = await halfOpen()
    state.up = false
    await fail('eve')
    expect(breaker.state()).toBe('open')
  })

  test('a call from before it opened changes nothing', async () => {
    const { clock, breaker, fail } = open()
    const [early, other] = [breaker.enter('eve')!, breaker.enter('eve')!]
    await fail('ada', 'bob', 'ada', 'bob', 'ada')
    clock.advance(10_000)
    early.succeeded()
    other.failed()
    expect({ state: breaker.state(), leftMs: breaker.leftMs() }).toEqual({ state: 'open', leftMs: 20_000 })
  })
})
