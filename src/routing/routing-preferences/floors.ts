import { DEFAULT_FLOOR, type Floors, type RoutingRule } from './schema'

type Confident = Pick<RoutingRule, 'target_mode' | 'confidence'>

/** Warnings about rules whose confidence is below the floor of their mode (contract 22.2, stage 1). */
export const belowFloor = (rules: readonly Confident[], floors: Floors = {}): string[] =>
  rules.flatMap(({ target_mode: mode, confidence }, index) => {
    const floor = floors[mode] ?? DEFAULT_FLOOR
    if (confidence >= floor) return []
    return `"rules[${index}]" has confidence ${confidence}, below the floor of ${floor} for mode "${mode}", so it decides nothing. Raise it, or lower the floor in "confidence_floor_overrides".`
  })
