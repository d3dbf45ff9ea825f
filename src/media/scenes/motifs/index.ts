import { ANIMALS } from './animals'
import { BUILDINGS } from './buildings'
import { HOUSEHOLD } from './household'
import type { Motif } from './motif'
import { NATURE } from './nature'
import { PEOPLE_AND_SIGNS } from './people-and-signs'
import { THINGS } from './things'
import { VEHICLES } from './vehicles'

export const MOTIFS: readonly Motif[] = [
  ...NATURE,
  ...BUILDINGS,
  ...VEHICLES,
  ...ANIMALS,
  ...THINGS,
  ...HOUSEHOLD,
  ...PEOPLE_AND_SIGNS,
]
