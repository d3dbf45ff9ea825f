import type { OperatorEdge } from '../http/operator-edge'
import { operatorRoutes, verb } from '../http/verbs'
import type { Call, OperatorCaller } from '../kernel/caller'
import type { createFileOperatorAccess } from './operator-reads'
import {
  ArtifactPrune,
  ArtifactSizes,
  ArtifactsPruned,
  OverseenArtifact,
  OverseenArtifacts,
  OverseenArtifactsQuery,
} from './schema'

/** `/ops/v1/artifacts`: the files of everyone (dx 2.18). */
export const artifactOperatorRoutes = (
  operatorAccess: ReturnType<typeof createFileOperatorAccess>,
  edge: OperatorEdge,
) =>
  operatorRoutes(
    [
      verb(
        {
          method: 'get',
          path: '/artifacts',
          holds: ['filename'],
          query: OverseenArtifactsQuery,
          reply: OverseenArtifacts,
          owned: true,
          summary: 'List the files of all owners, newest first',
        },
        (_, { query, owner }) => operatorAccess.list(query, owner),
      ),
      verb(
        {
          method: 'get',
          path: '/artifact-sizes',
          holds: 'facts',
          reply: ArtifactSizes,
          owned: true,
          summary: 'Read the total size of stored files, by owner and by age',
        },
        (_, { owner }) => operatorAccess.sizes(owner),
      ),
      verb(
        {
          method: 'get',
          path: '/artifacts/:id',
          holds: ['filename'],
          reply: OverseenArtifact,
          summary: 'Read the metadata of a file',
        },
        (_, { id }) => operatorAccess.get(id),
      ),
      verb(
        {
          method: 'post',
          path: '/artifacts/prune',
          body: ArtifactPrune,
          reply: ArtifactsPruned,
          summary: 'Delete files created before a given time',
        },
        (call, { body }) => operatorAccess.prune(call as Call<OperatorCaller>, body),
      ),
    ] as const,
    edge,
  )
