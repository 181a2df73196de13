import { accessSync, constants, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ResourceLimits } from '../policy/limits.ts';
import type { GroupLimit } from './keeper.ts';

/** Folders of the kernel's control groups in which this process may make a group and join it. */
export interface ControlGroups {
  readonly processes?: GroupPlace;
  readonly memory?: GroupPlace;
}

interface GroupPlace {
  readonly folder: string;
  /** Of every group below: takes the limit. */
  readonly file: string;
}

/** bubblewrap and the sandbox's process 1 are counted with the command. */
const ownProcesses = 2;
const mebibyte = 1024 * 1024;

/**
 * Version 2 is used where the controller is handed down to a folder that this user may write (root, or a user
 * session of systemd), version 1 where it is mounted, for processes only. What is missing cannot be limited this way here.
 * The texts are `/proc/self/cgroup` and `/proc/self/mountinfo`.
 */
export function findControlGroups(
  membership = readIfAny('/proc/self/cgroup'),
  mounts = readIfAny('/proc/self/mountinfo'),
): ControlGroups {
  const processes = place('pids', 'pids.max', 'pids.max', membership, mounts);
  const memory = place('memory', 'memory.max', undefined, membership, mounts);
  return { ...(processes && { processes }), ...(memory && { memory }) };
}

/** What the keeper has to set for the limits in groups of this name, as far as there are places for them. */
export function groupLimits(groups: ControlGroups, limits: ResourceLimits, name: string): GroupLimit[] {
  const group = ({ folder }: GroupPlace): string => join(folder, `cordon-${name}`);
  const { processes, memory } = groups;
  return [
    ...(processes && limits.processes !== undefined
      ? [
          {
            group: group(processes),
            file: processes.file,
            value: String(limits.processes + ownProcesses),
          },
        ]
      : []),
    ...(memory && limits.memoryMiB !== undefined
      ? [{ group: group(memory), file: memory.file, value: String(limits.memoryMiB * mebibyte) }]
      : []),
  ];
}

function place(
  controller: string,
  fileOfV2: string,
  fileOfV1: string | undefined,
  membership: string,
  mounts: string,
): GroupPlace | undefined {
  const v2 = ownFolder(membership, mounts, '');
  if (v2 !== undefined) {
    // A group that hands controllers down has no processes of its own, so the place is above ours.
    for (let folder = v2.own; folder.startsWith(v2.top) && folder !== '/'; folder = dirname(folder)) {
      const handedDown = readIfAny(join(folder, 'cgroup.subtree_control')).split(/\s+/);
      if (handedDown.includes(controller) && isWritable(folder)) {
        return { folder, file: fileOfV2 };
      }
    }
  }
  if (fileOfV1 === undefined) {
    return undefined;
  }
  const v1 = ownFolder(membership, mounts, controller);
  return v1 !== undefined && isWritable(v1.own) ? { folder: v1.own, file: fileOfV1 } : undefined;
}

/** Where the hierarchy of a controller (of version 2, for '') is mounted, and the folder of this process in it. */
function ownFolder(
  membership: string,
  mounts: string,
  controller: string,
): { top: string; own: string } | undefined {
  const path = membership
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .find((match) => match?.[1]?.split(',').includes(controller))?.[2];
  const mount = mounts
    .split('\n')
    .map((line) => /^\S+ \S+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line))
    .find((match) =>
      controller === '' ? match?.[3] === 'cgroup2' : match?.[4]?.split(',').includes(controller),
    );
  const [, root, top] = mount ?? [];
  if (path === undefined || root === undefined || top === undefined) {
    return undefined;
  }
  const prefix = root === '/' ? '' : root;
  return path.startsWith(prefix)
    ? { top, own: join(top, path.slice(prefix.length)).replace(/\/$/, '') }
    : undefined;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    accessSync(join(folder, 'cgroup.procs'), constants.W_OK);
    return true;
  } catch {
    // Not there, or somebody else's.
    return false;
  }
}

function readIfAny(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // No control groups here.
    return '';
  }
}
