/** The tenants of a store: which there are, and how another comes to be. Requests only ever name them. */
import type { Pond } from "../pond.ts"

export interface NamespaceReport {
  readonly namespaces: readonly {
    readonly namespace: string
    /** Absent of the one that is the store itself. */
    readonly created_at?: string
  }[]
}

export async function listNamespaces(pond: Pond): Promise<NamespaceReport> {
  const found = await (await pond.namespaces()).list()
  return {
    namespaces: found.map(({ name, createdAtMs }) => ({
      namespace: name,
      ...(createdAtMs === undefined ? {} : { created_at: new Date(createdAtMs).toISOString() }),
    })),
  }
}

/** `created` is false where it was there before. */
export async function createNamespace(
  pond: Pond,
  namespace: string,
): Promise<{ readonly namespace: string; readonly created: boolean }> {
  return { namespace, created: await (await pond.namespaces()).create(namespace) }
}
