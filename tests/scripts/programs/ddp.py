"""One of several processes that train a model by DistributedDataParallel."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main(options):
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    model = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 4))
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model) if options.sync_bn else model
    model = DistributedDataParallel(model.cuda(rank), device_ids=[rank])
    data = TensorDataset(torch.randn(128, 32), torch.randint(0, 4, (128,)))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 16, sampler=sampler)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.cuda(rank)), y.cuda(rank))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if rank == 0:
            print(epoch, total.item() / dist.get_world_size())
            torch.save(model.module.state_dict(), "checkpoint.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--sync-bn", action="store_true")
    main(parser.parse_args())
