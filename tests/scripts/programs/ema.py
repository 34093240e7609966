"""A student that follows a teacher, which is an average of the student; the best one is kept."""

import argparse
import copy

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

parser = argparse.ArgumentParser()
parser.add_argument("--decay", type=float, default=0.99)
args = parser.parse_args()

device = "cuda"
student = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Linear(64, 8))
student.to(device)
teacher = copy.deepcopy(student).eval().requires_grad_(False)
average = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(args.decay))
optimizer = torch.optim.Adagrad(student.parameters(), lr=1e-2)
best, kept = float("inf"), None
for _ in range(3):
    x = torch.randn(16, 32, device=device)
    with torch.no_grad():
        goal = teacher(x + 0.1 * torch.randn_like(x)).softmax(dim=-1)
    loss = nn.functional.kl_div(student(x).log_softmax(dim=-1), goal, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update_parameters(student)
    for old, new in zip(teacher.parameters(), student.parameters(), strict=True):
        old.data.mul_(args.decay).add_(new.data, alpha=1 - args.decay)
    if loss.item() < best:
        best, kept = loss.item(), {k: v.cpu().clone() for k, v in student.state_dict().items()}
student.load_state_dict(kept)
print(best)
