// Preloaded where no cgroup can be made: node reports the limit in MEMORY_LIMIT as that of one, and nothing enforces it.
process.constrainedMemory = () => Number(process.env.MEMORY_LIMIT);
